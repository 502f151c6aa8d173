import { type RegionFigures, type Regions, simulateLeases, simulateMergedCounters } from './leasing/regions.js';
import { type Report, type Row, toFigure, whole } from './table.js';

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
