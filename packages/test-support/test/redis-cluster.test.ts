import { RedisCluster, until } from '@rollgate/test-support';
import { Cluster } from 'ioredis';

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await RedisCluster.start();
});
afterAll(() => cluster.stop());

const KEYS = Array.from({ length: 25 }, (_, index) => `{ann}:${index}`);

async function hashSlotOf(key: string): Promise<number> {
  return (await cluster.nodes[0]!.run('CLUSTER', 'KEYSLOT', key)) as number;
}

test('every hash slot has an owner on which all nodes agree', async () => {
  expect(cluster.nodes).toHaveLength(3);
  for (const [index, hashSlot] of [0, 8000, 16_383].entries()) {
    expect(cluster.ownerOf(hashSlot)).toBe(cluster.nodes[index]);
    for (const node of cluster.nodes) {
      const ranges = (await node.run('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
      expect(ranges).toHaveLength(3);
      const [, , owner] = ranges.find(([from, to]) => from <= hashSlot && hashSlot <= to)!;
      expect(owner[1]).toBe(cluster.ownerOf(hashSlot).port);
    }
  }
});

test('moves a hash slot and its keys while a client uses them', async () => {
  const hashSlot = await hashSlotOf('{ann}');
  const source = cluster.ownerOf(hashSlot);
  const target = cluster.nodes.find((node) => node !== source)!;
  const client = new Cluster(cluster.nodes.map(({ host, port }) => ({ host, port })));
  try {
    for (const key of KEYS) await client.set(key, 0);
    let steps = 0;
    let redirected = 0;
    const between = async () => {
      for (const key of KEYS) await client.incr(key);
      steps += 1;
      const reply = await source.run('GET', KEYS[0]!).catch((error: Error) => error.message);
      if (String(reply).startsWith('ASK')) redirected += 1;
    };
    await cluster.moveHashSlot(hashSlot, target, { onKeyMoved: between });
    expect(steps).toBe(KEYS.length + 1);
    expect(redirected).toBeGreaterThan(0);
    expect(cluster.ownerOf(hashSlot)).toBe(target);
    for (const node of cluster.nodes.filter((node) => node !== target)) {
      await expect(node.run('GET', KEYS[0]!)).rejects.toThrow(`MOVED ${hashSlot} ${target.host}:${target.port}`);
    }
    for (const key of KEYS) expect(await target.run('GET', key)).toBe(String(steps));
    expect(await source.run('DBSIZE')).toBe(0);
    await cluster.moveHashSlot(hashSlot, target); // The slot is there already.
    await cluster.moveHashSlot(hashSlot, source);
    for (const key of KEYS) expect(await client.incr(key)).toBe(steps + 1);
  } finally {
    client.disconnect();
  }
});

test('a killed node restarts with the same identity', async () => {
  const [node, other] = cluster.nodes;
  await node!.kill();
  await node!.restart();
  for (const each of [node, other]) {
    await until('the cluster is whole again', async () =>
      String(await each!.run('CLUSTER', 'INFO')).includes('cluster_state:ok'),
    );
  }
  expect(await node!.run('SET', '{06S}', 'value')).toBe('OK'); // A key of hash slot 0.
});
