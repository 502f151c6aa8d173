import { setTimeout as lasting } from 'node:timers/promises';
import { RedisServer, until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { ScriptProcess } from './support/script-process.js';
import { type SlotEvent, useOfSlots } from './support/slot-log.js';

const PROCESSES = effort(2, 8);
const LIMIT = effort(5, 20);
const LEASE_MS = effort(1000, 3000);
const ROUNDS = effort(1, 12);
/** In `npm test`, a busy machine may keep a process from renewing in time. Then only the first lease of each slot counts. */
const COUNTED_MS = effort(LEASE_MS, Infinity);

let server: RedisServer;
const holders = new Map<string, ScriptProcess>();
beforeAll(async () => {
  server = await RedisServer.start({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] }); // A restart loses nothing.
});
afterAll(async () => {
  for (const holder of holders.values()) holder.kill();
  await server.stop();
});

function start(name: string): void {
  const options = { url: server.url, name, limit: LIMIT, lease: LEASE_MS, callers: LIMIT, holdMs: effort(60, 4000) };
  holders.set(name, new ScriptProcess('slot-holder.mjs', options));
}

const log = (process: string) => server.run('XADD', 'log', '*', 'event', 'gone', 'process', process, 'slot', '');

async function events(): Promise<SlotEvent[]> {
  const entries = (await server.run('XRANGE', 'log', '-', '+')) as [string, string[]][];
  return entries.map(([id, [, event, , process, , slot]]) => {
    return { atMs: Number(id.split('-')[0]), event, process, slot } as SlotEvent;
  });
}

const takenBy = async (name: string) =>
  (await events()).filter((one) => one.event === 'got' && one.process === name).length;

/** Waits until every process has taken some more slots. */
async function allWork(): Promise<void> {
  const before = new Map<string, number>();
  for (const name of holders.keys()) before.set(name, await takenBy(name));
  await until('all processes take slots', async () => {
    for (const [name, count] of before) if ((await takenBy(name)) < count + effort(1, 3)) return false;
    return true;
  });
}

const FAULTS: readonly ((round: number) => Promise<void>)[] = [
  async (round) => {
    const [name, holder] = [...holders][0]!;
    await log(name);
    holder.kill();
    holders.delete(name);
    start(`${name.split('/')[0]}/${round}`);
  },
  async () => {
    const [name, holder] = [...holders].at(-1)!;
    await log(name);
    holder.pause();
    await lasting(LEASE_MS * 1.2);
    await log(name); // What it takes from now on counts.
    holder.resume();
  },
  async () => void (await server.run('SCRIPT', 'FLUSH')),
  async () => void (await server.run('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')),
  () => server.restart(),
];

test('no fault lets more slots be in use than the limit, and dead processes free theirs after one lease', async () => {
  for (let index = 0; index < PROCESSES; index++) start(`holder-${index}`);
  await allWork();
  for (let round = 0; round < ROUNDS; round++) {
    for (const fault of FAULTS) {
      await fault(round);
      await allWork();
    }
  }
  for (const [name, holder] of holders) {
    await log(name);
    holder.kill();
  }
  await Promise.all([...holders.values()].map((holder) => holder.ended()));
  holders.clear();
  const key = 'rollgate:{all}:default/c';
  expect(Number(await server.run('PTTL', key))).toBeLessThanOrEqual(LEASE_MS + 1);
  const { most, taken } = useOfSlots(await events(), COUNTED_MS);
  if (effort(false, true)) console.info({ most, taken, events: (await events()).length });
  expect(most).toBeLessThanOrEqual(LIMIT);
  expect(taken).toBeGreaterThan(effort(10, 1000));
  await until('all slots are free', async () => (await server.run('EXISTS', key)) === 0);
});
