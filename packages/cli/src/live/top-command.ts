import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { keysOf } from '@rollgate/core/observe';
import type { Command } from 'commander';
import { print } from '../output.js';
import { escapeInvisibleJson, toPlainText } from '../report/escape-invisible.js';
import { formatCount, formatInteger, formatPercent } from '../report/format-number.js';
import { parseDurationOption } from '../usage.js';
import { formatRule, formatState, shareOf, toLimitRow } from './limit-row.js';
import { liveCommand } from './live-command.js';
import { type LiveLimiter, type LiveOptions, withLimiters, withStore } from './live-limiters.js';
import { toTable } from './live-table.js';
import { parseCount } from './parse-values.js';
import { describeRejected, findRejected } from './top-rejected.js';
import { type TopRow, TopRows } from './top-rows.js';

interface TopOptions extends LiveOptions {
  readonly top: number;
  readonly rejected?: boolean;
  readonly watch?: boolean;
  readonly every: number;
  readonly prefix?: string;
}

export function topCommand(): Command {
  return liveCommand('top')
    .option('--top <number>', 'number of keys to list', parseCount('--top'), 20)
    .option('--prefix <text>', 'only keys that begin with this')
    .option('--rejected', 'list the keys with the most rejections, of all processes that share them')
    .option('--watch', 'list them again and again')
    .option('--every <time>', 'time between two lists', (text) => parseDurationOption('--every', text), 2000)
    .addHelpText('after', EXAMPLES)
    .action((url: string, given: TopOptions) => {
      // Otherwise V8 lets garbage grow by 30 MB before it collects it. `npm run bench -- evening` measures this.
      setFlagsFromString('--semi-space-growth-factor=1');
      setFlagsFromString('--optimize-for-size');
      const options = { ...given, isReadOnly: true };
      if (!given.rejected) {
        const find = (limiters: readonly LiveLimiter[]) => () => findTop(limiters, given);
        return withLimiters(url, options, (limiters) =>
          list(given, find(limiters), (found) => describeTop(limiters, found)),
        );
      }
      return withStore(url, options, (open) =>
        list(given, () => findRejected(open.create({}), given), describeRejected),
      );
    });
}

/** Prints what is found, once or again and again. */
async function list<Found>(
  { json, watch, every }: TopOptions,
  find: () => Promise<Found>,
  describe: (found: Found) => string,
): Promise<void> {
  for (;;) {
    const found = await find();
    if (json) print(`${escapeInvisibleJson(JSON.stringify(found))}\n`);
    else print(`${watch && process.stdout.isTTY ? CLEAR : ''}${describe(found)}\n`);
    if (!watch) return;
    await delay(every);
  }
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
      if (rows.mayKeep(shareOf(result)))
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
