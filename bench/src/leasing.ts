import { randomUUID } from 'node:crypto';
import type { RedisServer } from '@rollgate/test-support';
import type { Effort } from './effort.js';
import type { HotKeyResult, HotKeyTask, StoreName } from './leasing/hot-key-worker.js';
import { readCpuMicros, readFigures, resetFigures } from './redis/server-figures.js';
import { withServer } from './redis.js';
import { millions, type Report, type Row, tenths, toFigure, whole } from './table.js';
import { startEach } from './worker.js';

type Figures = Partial<Record<StoreName, HotKeyFigures>>;

const SHARED: readonly StoreName[] = ['plain', 'leased'];
/** A decision without another process shows how fast the machine is. */
const ALL: readonly StoreName[] = [...SHARED, 'memory'];
/** 200 decisions per lease and process at a load of 1. */
const QUOTA = { limit: 50_000, windowMs: 5000, leaseMs: 100, processes: 4 };
/** No limit rejects anything, so only the processors do. */
const UNLIMITED = { ...QUOTA, limit: 2 ** 40 };
const LOADS = [0.5, 0.8, 0.95, 1.5];

/** Measures one key that several processes check: with a `RedisStore`, and with a `LeasingStore` in front of it. */
export function measureLeasing({ seconds, overloadSeconds }: Effort['leasing']): Promise<Report<StoreName>> {
  return withServer(async (server, about) => {
    const rows: Row<StoreName>[] = [];
    for (const processes of [1, 2, 4]) {
      const figures = await measureEach(SHARED, server, { ...UNLIMITED, processes, seconds });
      const add = (what: string, ...rest: RowRest) =>
        rows.push(
          toRow(`${what}, ${processes} ${processes === 1 ? 'process' : 'processes'} without a pause`, figures, ...rest),
        );
      add('decisions/s', 'decisionsPerSecond', millions);
      add('CPU µs/decision with Redis', 'cpuMicros', tenths);
      add('p99 of local decisions in µs', 'localP99Micros', tenths);
    }
    for (const load of LOADS) {
      const names = load === 0.8 ? ALL : SHARED;
      const lasts = load > 1 ? overloadSeconds : seconds;
      const figures = await measureEach(names, server, { ...QUOTA, load, seconds: lasts });
      const add = (what: string, ...rest: RowRest) =>
        rows.push(toRow(`${what} at a load of ${load}`, figures, ...rest));
      add('decisions/s', 'decisionsPerSecond', whole);
      add('scripts per 1,000 decisions', 'scriptsPer1000', tenths);
      add('p99 of all decisions in ms', 'p99Ms', tenths);
      add('p99 of local decisions in µs', 'localP99Micros', tenths);
      add('% of the possible decisions allowed', 'usedPercent', tenths);
    }
    const headers = { plain: 'RedisStore', leased: 'LeasingStore', memory: 'MemoryStore' };
    return { headers, rows, method: describeMethod(about, seconds, overloadSeconds) };
  });
}

async function measureEach(names: readonly StoreName[], server: RedisServer, load: HotKeyLoad): Promise<Figures> {
  const figures: Figures = {};
  for (const name of names) figures[name] = await measureHotKey(server, name, load);
  return figures;
}

type RowRest = [part: keyof HotKeyFigures, write: (value: number) => string];

function toRow(what: string, figures: Figures, ...[part, write]: RowRest): Row<StoreName> {
  const cells = Object.entries(figures)
    .filter(([, { [part]: value }]) => !Number.isNaN(value))
    .map(([name, { [part]: value }]) => [name, toFigure(value, write)]);
  return { what, cells: Object.fromEntries(cells) };
}

function describeMethod(about: string, seconds: number, overloadSeconds: number): string[] {
  return [
    about,
    `- **Load**: ${QUOTA.processes} processes check one key of ${whole(QUOTA.limit)} units per ${QUOTA.windowMs / 1000} s. Each makes the checks that are due in a millisecond at once, for ${seconds} s after a warm-up, and for ${overloadSeconds} s above a load of 1. A lease lasts ${QUOTA.leaseMs} ms.`,
    '- **Without a pause**: 128 callers in each process check again as soon as they have a decision. The limit rejects nothing.',
    '- **MemoryStore**: each process counts alone. After each pause of a millisecond, its code and data have left the caches of the processor.',
    '- **Possible decisions**: the checks, or what an exact log allows, if that is less. Above a load of 1, the log is full at the start.',
  ];
}

/** What all processes did together. */
interface HotKeyFigures {
  readonly decisionsPerSecond: number;
  readonly scriptsPer1000: number;
  /** The allowed checks, as a percentage of those that an exact log allows. */
  readonly usedPercent: number;
  readonly p99Ms: number;
  /** `NaN` if no decision was local. */
  readonly localP99Micros: number;
  /** The processor time of the processes and of the server per decision. */
  readonly cpuMicros: number;
}

interface HotKeyLoad extends Omit<HotKeyTask, 'prefix' | 'perSecond'> {
  readonly processes: number;
  /** The checks of all processes as a part of the limit, or `undefined` for as many as they can make. */
  readonly load?: number | undefined;
}

/** Checks one key in several processes, and returns what they did together. */
async function measureHotKey(server: RedisServer, name: StoreName, load: HotKeyLoad): Promise<HotKeyFigures> {
  const { processes, limit, windowMs, seconds } = load;
  const total = load.load === undefined ? undefined : (load.load * limit * 1000) / windowMs;
  const names = new Array<StoreName>(processes).fill(name);
  await using workers = await startEach<StoreName, HotKeyTask, HotKeyResult>(names, 'leasing/hot-key-worker.ts', {
    args: [server.url],
  });
  const prefix = randomUUID();
  const run = (task: Partial<HotKeyTask>) =>
    Promise.all(
      workers.map(({ worker }) => worker.run({ ...load, prefix, perSecond: total && total / processes, ...task })),
    );
  await run(warmUpOf(load)); // Includes compilation.
  await resetFigures(server);
  const before = await readCpuMicros(server);
  const results = await run({});
  const { commands } = await readFigures(server);
  const sum = (part: 'decisions' | 'allowed' | 'cpuSeconds') => results.reduce((all, result) => all + result[part], 0);
  const most = (part: 'p99Ms' | 'localP99Micros') => Math.max(...results.map((result) => result[part] ?? Number.NaN));
  const serverMicros = (await readCpuMicros(server)) - before;
  const quota = (limit * seconds * 1000) / windowMs; // The log was full at the start if the load is above 1.
  return {
    decisionsPerSecond: sum('decisions') / seconds,
    scriptsPer1000: (commands / sum('decisions')) * 1000,
    usedPercent: (sum('allowed') / Math.min(quota, sum('decisions'))) * 100,
    cpuMicros: (serverMicros + sum('cpuSeconds') * 1e6) / sum('decisions'),
    p99Ms: most('p99Ms'),
    localP99Micros: most('localP99Micros'),
  };
}

/** A load above 1 starts with a full log, whose hits are spread over the window. An empty one would allow a burst first. */
function warmUpOf({ load, processes, limit, windowMs }: HotKeyLoad): Partial<HotKeyTask> {
  if (load === undefined || load <= 1) return { seconds: 1 };
  return { seconds: (1.2 * windowMs) / 1000, perSecond: (limit * 1000) / windowMs / processes };
}
