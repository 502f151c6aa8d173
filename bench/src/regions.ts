import { type Decision, MemoryStore, manualClock, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import { LeasingStore } from '@rollgate/leasing';
import { type Report, type Row, toFigure, whole } from './table.js';
import { mostInAnyWindow } from './trial.js';

type Name = 'leases' | 'merged';

const SETTINGS: Omit<Regions, 'limit' | 'load'> = {
  windowMs: 10_000,
  leaseMs: 200,
  regions: 3,
  roundTripMs: 100,
  seconds: 40,
};
const LOADS = [
  { limit: 1000, load: 0.8 },
  { limit: 1000, load: 1.5 },
  { limit: 1000, load: 4 },
  { limit: 4, load: 200 },
];

/** Simulates one limit that several regions share: with leases, and with counters that the regions merge. */
export async function measureRegions(): Promise<Report<Name>> {
  const rows: Row<Name>[] = [];
  for (const load of LOADS) {
    const settings = { ...SETTINGS, ...load };
    const leases = await simulateLeases(settings);
    const merged = await simulateMergedCounters(settings);
    const what = `limit ${whole(load.limit)}, load ${load.load}`;
    rows.push(toRow(`${what}: most allowed requests in any window`, leases, merged, 'most'));
    rows.push(toRow(`${what}: allowed requests as % of the limit`, leases, merged, 'usedPercent'));
  }
  return { headers: { leases: 'LeasingStore', merged: 'merged counters' }, rows, method: describeMethod() };
}

function toRow(what: string, leases: RegionFigures, merged: RegionFigures, part: keyof RegionFigures): Row<Name> {
  return { what, cells: { leases: toFigure(leases[part], whole), merged: toFigure(merged[part], whole) } };
}

function describeMethod(): string[] {
  const { regions, roundTripMs, windowMs, leaseMs, seconds } = SETTINGS;
  return [
    `- **Simulation**: ${regions} regions with a round trip of ${roundTripMs} ms share a limit per ${windowMs / 1000} s, in virtual time, for ${seconds} s. The requests come in the first half of each window, in turns of the regions.`,
    `- **LeasingStore**: one process per region, whose store is in the first region. A lease lasts ${leaseMs} ms.`,
    '- **Merged counters**: each region decides by its own count in the window, and by the counts of the others, which it knows half a round trip later.',
  ];
}

/** Regions that share one limit. */
interface Regions {
  readonly limit: number;
  readonly windowMs: number;
  readonly leaseMs: number;
  readonly regions: number;
  /** Between two regions. */
  readonly roundTripMs: number;
  /** The requests of all regions, as a part of the limit. */
  readonly load: number;
  readonly seconds: number;
}

/** What the regions allowed together. */
interface RegionFigures {
  /** The most in any window, by the times of the decisions. */
  readonly most: number;
  /** As a percentage of what the limit allows in this time. */
  readonly usedPercent: number;
}

/** Simulates a process per region, which leases units from the first region, in virtual time. */
async function simulateLeases(settings: Regions): Promise<RegionFigures> {
  const { limit, windowMs, leaseMs, regions, roundTripMs } = settings;
  const clock = manualClock();
  const home = new MemoryStore({ clock });
  const limits = rollingWindow({ limit, window: `${windowMs}ms` });
  const limiters = Array.from({ length: regions }, (_, region) => {
    const store = new LeasingStore({ store: atDistance(home, clock, region === 0 ? 1 : roundTripMs), lease: leaseMs });
    return new RateLimiter({ limits, store, timeout: '1m' });
  });
  const times: number[] = [];
  const onDecision = ({ allowed }: Decision) => {
    if (allowed) times.push(clock.now());
  };
  await forEachRequest(settings, async (region, isNewMillisecond) => {
    if (isNewMillisecond) {
      clock.advance(1);
      await new Promise(setImmediate); // Lets the promises of the stores settle.
    }
    if (region === undefined) return;
    const decision = limiters[region]!.decide('all');
    if ('then' in decision) decision.then(onDecision);
    else onDecision(decision);
  });
  return toFigures(settings, times);
}

/** Simulates gateways that decide by their own count and by those of the others, which arrive half a round trip later. */
async function simulateMergedCounters(settings: Regions): Promise<RegionFigures> {
  const { limit, windowMs, regions, roundTripMs } = settings;
  const timesOf: number[][] = Array.from({ length: regions }, () => []);
  let nowMs = 0;
  await forEachRequest(settings, async (region, isNewMillisecond) => {
    if (isNewMillisecond) nowMs += 1;
    if (region === undefined) return;
    const known = timesOf.map((times, other) => {
      const untilMs = other === region ? nowMs : nowMs - roundTripMs / 2;
      return times.filter((atMs) => atMs > nowMs - windowMs && atMs <= untilMs).length;
    });
    if (known.reduce((sum, count) => sum + count, 0) < limit) timesOf[region]!.push(nowMs);
  });
  return toFigures(
    settings,
    timesOf.flat().sort((one, other) => one - other),
  );
}

/** Calls `request` for each request, in turns of the regions, and once in a millisecond without any. The first half of each window has all of its requests. */
async function forEachRequest(
  { limit, windowMs, regions, load, seconds }: Regions,
  request: (region: number | undefined, isNewMillisecond: boolean) => Promise<void>,
): Promise<void> {
  let count = 0;
  for (let ms = 0; ms < seconds * 1000; ms++) {
    const isBusy = ms % windowMs < windowMs / 2;
    const due = isBusy
      ? Math.round(((ms + 1) * 2 * limit * load) / windowMs) - Math.round((ms * 2 * limit * load) / windowMs)
      : 0;
    for (let index = 0; index < due; index++) await request(count++ % regions, index === 0);
    if (due === 0) await request(undefined, true);
  }
}

function toFigures({ limit, windowMs, seconds }: Regions, times: readonly number[]): RegionFigures {
  return {
    most: mostInAnyWindow(times, windowMs),
    usedPercent: (times.length / ((limit * seconds * 1000) / windowMs)) * 100,
  };
}

/** A store whose operations arrive half a round trip later, and their results another half. */
function atDistance(store: MemoryStore, clock: ReturnType<typeof manualClock>, roundTripMs: number): Store {
  const pass = (ms: number) => new Promise<void>((resolve) => clock.schedule(clock.now() + ms, resolve));
  const send = async <Result>(operation: () => Result): Promise<Awaited<Result>> => {
    await pass(roundTripMs / 2);
    const result = await operation();
    await pass(roundTripMs / 2);
    return result;
  };
  return {
    clock,
    check: (...given) => send(() => store.check(...given)),
    peek: (...given) => send(() => store.peek(...given)),
    charge: (...given) => send(() => store.charge(...given)),
    settle: (...given) => send(() => store.settle(...given)),
    refund: (receipt) => send(() => store.refund(receipt)),
    reset: (...given) => send(() => store.reset(...given)),
  };
}
