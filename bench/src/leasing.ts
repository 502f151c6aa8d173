import type { RedisServer } from '@rollgate/test-support';
import type { Effort } from './effort.js';
import { type HotKeyFigures, type HotKeyLoad, measureHotKey } from './leasing/hot-key.js';
import type { StoreName } from './leasing/hot-key-worker.js';
import { withServer } from './redis.js';
import { millions, type Report, type Row, tenths, toFigure, whole } from './table.js';

const NAMES: readonly StoreName[] = ['plain', 'leased'];
/** 200 decisions per lease and process at a load of 1. */
const QUOTA = { limit: 50_000, windowMs: 5000, leaseMs: 100, processes: 4 };
/** No limit rejects anything, so only the processors do. */
const UNLIMITED = { ...QUOTA, limit: 2 ** 40 };
const LOADS = [0.5, 0.8, 0.95, 1.5];

/** Measures one key that several processes check: with a `RedisStore`, and with a `LeasingStore` in front of it. */
export function measureLeasing({ seconds, overloadSeconds }: Effort['leasing']): Promise<Report<StoreName>> {
  return withServer([], async (server, about) => {
    const rows: Row<StoreName>[] = [];
    for (const processes of [1, 2, 4]) {
      const figures = await measureBoth(server, { ...UNLIMITED, processes, seconds });
      rows.push(toRow(`decisions/s, ${processes} processes without a pause`, figures, 'decisionsPerSecond', millions));
      rows.push(
        toRow(`CPU µs/decision with Redis, ${processes} processes without a pause`, figures, 'cpuMicros', tenths),
      );
    }
    for (const load of LOADS) {
      const figures = await measureBoth(server, { ...QUOTA, load, seconds: load > 1 ? overloadSeconds : seconds });
      rows.push(toRow(`scripts per 1,000 decisions at a load of ${load}`, figures, 'scriptsPer1000', tenths));
      rows.push(toRow(`p99 of all decisions in ms at a load of ${load}`, figures, 'p99Ms', tenths));
      rows.push(toRow(`p99 of local decisions in µs at a load of ${load}`, figures, 'localP99Micros', tenths));
      rows.push(toRow(`% of the possible decisions allowed at a load of ${load}`, figures, 'usedPercent', tenths));
    }
    const headers = { plain: 'RedisStore', leased: 'LeasingStore' };
    return { headers, rows, method: describeMethod(about, seconds, overloadSeconds) };
  });
}

async function measureBoth(server: RedisServer, load: HotKeyLoad): Promise<Record<StoreName, HotKeyFigures>> {
  const plain = await measureHotKey(server, 'plain', load);
  return { plain, leased: await measureHotKey(server, 'leased', load) };
}

function toRow(
  what: string,
  figures: Record<StoreName, HotKeyFigures>,
  part: keyof HotKeyFigures,
  write: (value: number) => string,
): Row<StoreName> {
  const cells = NAMES.map((name) => [
    name,
    toFigure(figures[name][part], write, figures.plain[part] / figures[name][part]),
  ]);
  return { what, cells: Object.fromEntries(cells) };
}

function describeMethod(about: string, seconds: number, overloadSeconds: number): string[] {
  return [
    about,
    `- **Load**: ${QUOTA.processes} processes check one key of ${whole(QUOTA.limit)} units per ${QUOTA.windowMs / 1000} s. Each makes the checks that are due in a millisecond at once, for ${seconds} s after a warm-up, and for ${overloadSeconds} s above a load of 1. A lease lasts ${QUOTA.leaseMs} ms.`,
    '- **Without a pause**: 128 callers in each process check again as soon as they have a decision. The limit rejects nothing.',
    '- **Possible decisions**: the checks, or the quota of the time with one more window, if that is less.',
  ];
}
