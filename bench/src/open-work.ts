import type { Effort } from './effort.js';
import type { MemoryWorkResult, MemoryWorkTask } from './open-work-memory-worker.js';
import { measureOpenWork, NEWER_CHECKS, type OpenWork, SLOTS } from './redis/open-work.js';
import { withServer } from './redis.js';
import { measureInTurn, median } from './statistics.js';
import { type Report, type Row, tenths, times, toFigure, whole } from './table.js';
import { canPin, Worker } from './worker.js';

type Column = 'packed' | 'sortedSet' | 'memory';

const KEYS = 1_000;
const CORE = 1;

/** Measures settlements, slots and the renewal of leases, in Redis and in memory. */
export async function measureOpenWorkCosts(effort: Effort['openWork']): Promise<Report<Column>> {
  const memory = await measureInMemory(effort);
  return withServer(async (server, about) => {
    const { rollgate, 'rollgate, sorted-set': sortedSet } = await measureOpenWork(server, effort);
    return {
      headers: { packed: 'Redis', sortedSet: 'Redis, sorted-set', memory: 'memory' },
      rows: toRows(rollgate, sortedSet, memory),
      method: describeMethod(about, effort),
    };
  });
}

async function measureInMemory({ rounds, memoryCalls }: Effort['openWork']): Promise<MemoryWorkResult> {
  await using worker = await Worker.start<MemoryWorkTask, MemoryWorkResult>('open-work-memory-worker.ts', {
    flags: ['--expose-gc'],
    core: CORE,
  });
  // The first round includes compilation.
  const measured = await measureInTurn([worker], { rounds, warmUpRounds: 1 }, () =>
    worker.run({ calls: memoryCalls, keyCount: KEYS, slots: SLOTS }),
  );
  const results = measured.get(worker)!;
  const middle = (figure: keyof MemoryWorkResult) => median(results.map((result) => result[figure]));
  return {
    check: middle('check'),
    checkAndSettle: median(results.map(({ check, checkAndSettle }) => checkAndSettle / check)),
    checkAndRelease: middle('checkAndRelease'),
    slotBytes: middle('slotBytes'),
  };
}

function toRows(packed: OpenWork, sortedSet: OpenWork, memory: MemoryWorkResult): Row<Column>[] {
  const inRedis = (value: (work: OpenWork) => number, write: (value: number) => string): Row<Column>['cells'] => ({
    packed: toFigure(value(packed), write),
    sortedSet: toFigure(value(sortedSet), write),
  });
  const settlements = NEWER_CHECKS.map((newer, index): Row<Column> => {
    const cells = inRedis(({ settlements }) => settlements[index]!.server, times);
    const what = `settlement relative to its check, ${newer} newer checks of its key: server CPU`;
    return { what, cells };
  });
  return [
    ...settlements,
    {
      what: 'settlement relative to its check: CPU of this process',
      cells: {
        ...inRedis(({ settlements: [first] }) => first!.client, times),
        memory: toFigure(memory.checkAndSettle - 1, times),
      },
    },
    { what: 'slot, check and release: server CPU µs', cells: inRedis(({ slot }) => slot.server, tenths) },
    {
      what: 'slot, check and release: CPU µs of this process',
      cells: {
        ...inRedis(({ slot }) => slot.client, tenths),
        memory: toFigure(memory.checkAndRelease / 1000, (value) => value.toFixed(2)),
      },
    },
    {
      what: `renewing ${whole(SLOTS)} leases of 30 s: % of a core, server and this process`,
      cells: {
        packed: `${packed.renewal.server.toFixed(2)} + ${packed.renewal.client.toFixed(2)}`,
        sortedSet: `${sortedSet.renewal.server.toFixed(2)} + ${sortedSet.renewal.client.toFixed(2)}`,
      },
    },
    {
      what: `bytes per open slot, ${whole(SLOTS)} slots of one key`,
      cells: { ...inRedis(({ bytesPerSlot }) => bytesPerSlot, whole), memory: toFigure(memory.slotBytes, whole) },
    },
  ];
}

function describeMethod(about: string, { rounds, checks, memoryCalls }: Effort['openWork']): string[] {
  return [
    about,
    `- **Settlements**: each check takes one request and an estimate of 2,000 to 2,399 tokens, and half of the settlements are higher. ${whole(checks)} checks of 100 keys with 64 calls in flight, in memory ${whole(memoryCalls)} checks of ${whole(KEYS)} keys. A round measures checks alone, then checks that are settled. The table shows the median of ${rounds} rounds after a warm-up.`,
    `- **Slots**: the same load on one \`concurrency\` limit. The renewal is that of leases of 6 s in 12 s, minus an idle process, divided by five.`,
    `- **Processes**: one for the server and one for Rollgate${canPin ? ', each pinned to a core' : ', NOT pinned to a core'}. CPU is user and system time.`,
  ];
}
