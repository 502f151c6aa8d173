import { measureStarts } from '../start.js';
import { median } from '../statistics.js';
import type { PlainRow } from './row.js';

const ROUNDS = 9;

const PAIRS: readonly [string, string][] = [
  ['@rollgate/express', 'express-rate-limit'],
  ['@rollgate/fastify', '@fastify/rate-limit'],
];

/** Compares the processor time of one import, in fresh processes. */
export async function measurePlainStart(): Promise<PlainRow[]> {
  const programs = PAIRS.flat().map((name) => [name, ['-e', `require('${name}')`]] as const);
  const starts = await measureStarts(Object.fromEntries(programs), ROUNDS);
  return PAIRS.map(([ours, other]) => ({
    what: `import of ${ours}, CPU against ${other}`,
    value: median(starts.get(ours)!.map(({ cpuMs }, round) => cpuMs / starts.get(other)![round]!.cpuMs)),
    bar: ['at most', 1.5],
  }));
}
