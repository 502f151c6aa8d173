import { setTimeout as delay } from 'node:timers/promises';
import { keysOf } from '@rollgate/core/observe';
import type { Command } from 'commander';
import { print } from '../output.js';
import { escapeInvisibleJson, toPlainText } from '../report/escape-invisible.js';
import { formatCount, formatInteger, formatPercent } from '../report/format-number.js';
import { formatRule, formatState, toLimitRow } from './limit-row.js';
import { liveCommand } from './live-command.js';
import { type LiveLimiter, type LiveOptions, withLimiters } from './live-limiters.js';
import { toTable } from './live-table.js';
import { parseCount, parseTime } from './parse-values.js';
import { type TopRow, TopRows } from './top-rows.js';

interface TopOptions extends LiveOptions {
  readonly top: number;
  readonly watch?: boolean;
  readonly every: number;
  readonly prefix?: string;
}

/** `rollgate top`. */
export function topCommand(): Command {
  return liveCommand('top')
    .option('--top <number>', 'number of keys to list', parseCount('--top'), 20)
    .option('--prefix <text>', 'only keys that begin with this')
    .option('--watch', 'list them again and again')
    .option('--every <time>', 'time between two lists', parseTime('--every'), 2000)
    .addHelpText('after', EXAMPLES)
    .action((url: string, options: TopOptions) =>
      withLimiters(url, { ...options, isReadOnly: true }, async (limiters) => {
        for (;;) {
          const found = await findTop(limiters, options);
          if (options.json) print(`${escapeInvisibleJson(JSON.stringify(found))}\n`);
          else print(`${options.watch && process.stdout.isTTY ? CLEAR : ''}${describeTop(limiters, found)}\n`);
          if (!options.watch) return;
          await delay(options.every);
        }
      }),
    );
}

interface Found {
  /** How many limits of keys have a state. */
  readonly states: number;
  readonly top: readonly TopRow[];
}

/** Visits all keys, and keeps only those that have used the most. */
async function findTop(limiters: readonly LiveLimiter[], { top, prefix = '' }: TopOptions): Promise<Found> {
  const rows = new TopRows(top);
  let states = 0;
  for (const { description, limiter } of limiters) {
    for await (const { limit, key, isHashed, result } of keysOf(limiter, { prefix, repeats: true })) {
      states += 1;
      rows.add({ ...toLimitRow(description.name, limit, description.limits[limit]!, result), key, isHashed });
    }
  }
  return { states, top: rows.sorted() };
}

/** Clears the screen, and what has scrolled off it stays. */
const CLEAR = '\u001b[H\u001b[J';

function describeTop(limiters: readonly LiveLimiter[], { states, top }: Found): string {
  const names = limiters.map(({ description }) => toPlainText(description.name)).join(', ');
  const title = `${formatCount(states, 'state')} of keys in ${names}`;
  if (top.length === 0) return title;
  const cells = top.map((row) => [
    formatPercent(row.share, 1),
    row.used === null ? '' : formatInteger(row.used),
    toPlainText(row.limiter),
    toPlainText(row.limit),
    toPlainText(formatRule(row)),
    formatState(row),
    toPlainText(row.key, 80),
  ]);
  return `${title}\n\n${toTable([['share', 'used', 'limiter', 'limit', 'rule', 'state', 'key'], ...cells], [0, 1])}`;
}

const EXAMPLES = `
Examples:
  rollgate top redis://localhost --watch
  rollgate top env:DATABASE_URL --limiter api --top 100 --json`;
