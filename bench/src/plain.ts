import { readFileSync } from 'node:fs';
import { measurePlainHttp } from './plain/http.js';
import { countPlainInstructions } from './plain/instructions.js';
import { measurePlainMemory } from './plain/memory.js';
import { measurePlainRedis } from './plain/redis.js';
import type { PlainRow } from './plain/row.js';
import { measureStarts } from './start.js';
import { median } from './statistics.js';
import { type Report, toFigure } from './table.js';

type Column = 'figure' | 'bar' | 'last';

/**
 * Measures the plain path of every layer: one limit and one key in memory, in Redis and behind HTTP. Times are ratios within this
 * run. Where time is too noisy, the rows are instructions, which do not depend on what else the machine does.
 */
export async function measurePlain(): Promise<Report<Column>> {
  const parts = [measurePlainMemory, measurePlainStart, measurePlainHttp, measurePlainRedis, countPlainInstructions];
  const rows: PlainRow[] = [];
  for (const measure of parts) rows.push(...(await measure()));
  const last = readLast();
  return {
    headers: { figure: 'this run', bar: 'should be', last: 'last committed run' },
    rows: rows.map(({ what, value, bar, isCount }) => {
      const write = (figure: number) => (isCount ? Math.round(figure).toLocaleString('en-US') : figure.toFixed(2));
      const [side, limit] = bar ?? [];
      const before = last.get(what);
      return {
        what,
        cells: {
          figure: toFigure(value, write),
          ...(limit === undefined ? {} : { bar: `${side} ${write(limit)}` }),
          ...(before === undefined ? {} : { last: toFigure(before, write) }),
        },
      };
    }),
    method: [
      "- **Ratios**: Rollgate's figure divided by the other one, in alternating rounds of this run; the median of the rounds.",
      '- **Instructions**: counted by callgrind, with the loop around the call. Those of Redis are of the whole server process, and those of HTTP are without a network and collections of garbage.',
    ],
  };
}

/** Returns the figures of the committed result, by row. */
function readLast(): ReadonlyMap<string, number> {
  const { rows } = JSON.parse(
    readFileSync(new URL('../results/plain.json', import.meta.url), 'utf8'),
  ) as Report<Column>;
  return new Map(
    rows.flatMap(({ what, cells: { figure } }) => (typeof figure === 'object' ? [[what, figure.value]] : [])),
  );
}

/** Instructions vary with the machine and the version of Node by little; ratios of times vary with chance. */
const TOLERANCE = { count: 1.05, ratio: 1.3 };

/** Returns a line for each row that has become worse than the committed run by more than chance explains. */
export function findSlower({ rows }: Report<Column>): string[] {
  return rows.flatMap(({ what, cells: { figure, last, bar } }) => {
    if (typeof figure !== 'object' || typeof last !== 'object') return [];
    const growth = String(bar).startsWith('at least') ? last.value / figure.value : figure.value / last.value;
    const tolerance = figure.text.includes('.') ? TOLERANCE.ratio : TOLERANCE.count;
    return growth > tolerance ? [`${what}: ${last.text} before, ${figure.text} now`] : [];
  });
}

const ROUNDS = 9;

const PAIRS: readonly [string, string][] = [
  ['@rollgate/express', 'express-rate-limit'],
  ['@rollgate/fastify', '@fastify/rate-limit'],
];

/** Compares the processor time of one import, in fresh processes. */
async function measurePlainStart(): Promise<PlainRow[]> {
  const programs = PAIRS.flat().map((name) => [name, ['-e', `require('${name}')`]] as const);
  const starts = await measureStarts(Object.fromEntries(programs), ROUNDS);
  return PAIRS.map(([ours, other]) => ({
    what: `import of ${ours}, CPU against ${other}`,
    value: median(starts.get(ours)!.map(({ cpuMs }, round) => cpuMs / starts.get(other)![round]!.cpuMs)),
    bar: ['at most', 1.5],
  }));
}
