import { type Key, type Limit, RateLimiter } from '@rollgate/core';
import { type ClusterSlot, type IoredisClient, RedisStore } from '@rollgate/redis';
import { randomRuns } from '@rollgate/test-support/effort';
import { limitOfEach } from '@rollgate/test-support/limit-of-each';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import fc from 'fast-check';

silenceOutages();

const limits: Readonly<Record<string, Limit>> = limitOfEach(1, '1m');

/** A client without a server: it fails each script, and keeps the names of its keys. */
class KeyRecorder implements IoredisClient {
  readonly status = 'ready';
  readonly options = {};
  readonly slots = [];
  seen: string[] = [];

  constructor(readonly isCluster: boolean) {}

  async evalsha(_sha: string, keyCount: number, ...keys: string[]): Promise<never> {
    this.seen.push(...keys.slice(0, keyCount));
    throw new Error('No server is running');
  }

  eval = this.evalsha;
}

/** The parts of a state's name. `name` and `algorithm` are those of the limit. */
interface State {
  readonly prefix: string;
  readonly name: string;
  readonly algorithm: string;
  readonly key: string;
  readonly asRecord: boolean;
}

const PIECES = ['{', '}', ':', '/', '%', '#', '\0', '\n', '', 'a', 'api', 'fw', '/fw', ':fw', '\ud800', '\udc00', '%7B', '#count']; // biome-ignore format: a table
const odd = fc.array(fc.constantFrom(...PIECES), { maxLength: 5 }).map((pieces) => pieces.join(''));
const state: fc.Arbitrary<State> = fc.record({
  prefix: odd,
  name: fc.constantFrom('default', 'a', 'api', 'fw', 'swc', 'a.fw', 'a-fw', 'a_fw'),
  algorithm: fc.constantFrom(...Object.keys(limits)),
  key: odd.filter((key) => key !== ''), // An empty key is an error.
  asRecord: fc.boolean(),
});

async function keyOf({ prefix, name, algorithm, key, asRecord }: State, client: KeyRecorder, store: RedisStore) {
  const limiter = new RateLimiter({
    limits: { [name]: limits[algorithm]! },
    store,
    prefix,
    timeout: '30s',
    onStoreError: 'deny',
  });
  client.seen = [];
  await limiter.check((asRecord ? { [name]: key } : key) as Key);
  return client.seen;
}

test.each<[string, boolean, ClusterSlot]>([
  ['on one server', false, 'key'],
  ['on a Cluster', true, 'key'],
  ['on a Cluster, with all keys of a limiter in one hash slot', true, 'prefix'],
])(
  'different prefixes, names, algorithms and keys have different Redis keys: %s',
  async (_, isCluster, clusterSlot) => {
    const client = new KeyRecorder(isCluster);
    const store = new RedisStore({ client, clusterSlot });
    const stateOf = new Map<string, string>();
    await fc.assert(
      fc.asyncProperty(state, async (one) => {
        const { prefix, name, algorithm, key } = one;
        const [redisKey, ...others] = await keyOf(one, client, store);
        expect(others).toEqual([]);
        const id = JSON.stringify([prefix, name, algorithm, key]); // Whether the key was in a record makes no difference.
        const bytes = Buffer.from(redisKey!).toString('latin1'); // All lone surrogates have the same bytes.
        expect(stateOf.get(bytes) ?? id).toBe(id);
        stateOf.set(bytes, id);
      }),
      { ...randomRuns(400, 4000), examples: [['k:api', 'fw', 'rollingWindow'], ['k', 'api', 'fixedWindow']].map(([key, name, algorithm]) => [{ prefix: 'p', name, algorithm, key, asRecord: true } as State]) }, // biome-ignore format: a table
    );
  },
);

test.each(['x', '\ud800', '{'])('a key of a million characters has a short name in Redis: %j', async (character) => {
  const client = new KeyRecorder(false);
  const state = { prefix: 'p', name: 'default', algorithm: 'rollingWindow', asRecord: false };
  const store = new RedisStore({ client });
  const [one] = await keyOf({ ...state, key: `${character.repeat(1e6)}a` }, client, store);
  const [other] = await keyOf({ ...state, key: `${character.repeat(1e6)}b` }, client, store);
  expect(one!.length).toBeLessThan(300);
  expect(one).not.toBe(other);
});
