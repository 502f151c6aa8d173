import { ALGORITHMS, mostOf, type Race, type Row } from '../race.js';

/** Formats a number of milliseconds as `0.8 s`. */
export const formatSeconds = (ms: number): string => `${Number((ms / 1000).toFixed(ms < 100 ? 2 : 1))} s`;

/** The name of a row. The fixed window of express-rate-limit starts with a request, and that of Rollgate by the clock. */
export function nameOf(row: Row): string {
  if (row === 'express') return 'express-rate-limit';
  return row === 'fixed' ? 'Clock-aligned window' : ALGORITHMS[row];
}

const requests = (count: number): string => `${count} ${count === 1 ? 'request' : 'requests'}`;

export function describeResult(race: Race): string {
  const { shots } = race;
  const { limit, windowMs, algorithm } = race.settings;
  const window = formatSeconds(windowMs);
  if (shots.length === 0) return `The limit is ${limit} per ${window}. Send requests, or watch an attack.`;
  const [express, clock, own] = [mostOf(race, 'express'), mostOf(race, 'fixed'), mostOf(race, algorithm)];
  const ours = `Rollgate let ${own.count} through`;
  const beaten = [
    ...(express.count > limit ? [[express, 'express-rate-limit'] as const] : []),
    ...(clock.count > limit && algorithm !== 'fixed' ? [[clock, 'a clock-aligned window'] as const] : []),
  ];
  if (beaten.length > 0) {
    const spanMs = Math.max(...beaten.map(([{ fromMs, toMs }]) => toMs - fromMs));
    const most = beaten.map(([{ count }, name]) => `${count} through ${name}`).join(' and ');
    return `You got ${most} within ${formatSeconds(spanMs)}. The limit is ${limit} per ${window}. ${ours}.`;
  }
  if (own.count > limit) {
    const name = ALGORITHMS[algorithm].toLowerCase();
    return `${ours} within ${formatSeconds(own.toMs - own.fromMs)}, with a ${name}. A rolling window allows ${limit}.`;
  }
  if (shots.length <= limit) return `${requests(shots.length)} so far. Send ${limit + 1} within ${window}.`;
  return `Each of them kept to ${limit}. Wait until just before a dotted line, send ${limit}, and ${limit} more just after it.`;
}
