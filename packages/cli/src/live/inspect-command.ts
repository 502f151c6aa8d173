import type { Command } from 'commander';
import { print } from '../output.js';
import { escapeInvisibleJson, toPlainText } from '../report/escape-invisible.js';
import { formatInteger } from '../report/format-number.js';
import { formatMs, formatRule, formatState, type LimitRow, toLimitRow } from './limit-row.js';
import { liveCommand } from './live-command.js';
import { type LiveLimiter, type LiveOptions, peek, withLimiters } from './live-limiters.js';
import { toTable } from './live-table.js';
import { parseKey } from './parse-values.js';

export function inspectCommand(): Command {
  return liveCommand('inspect')
    .argument('<key>', 'key of a client, as your app passes it', parseKey)
    .addHelpText('after', EXAMPLES)
    .action((url: string, key: string, options: LiveOptions) =>
      withLimiters(url, { ...options, isReadOnly: true }, async (limiters) => {
        const rows = (await Promise.all(limiters.map((live) => inspect(live, key)))).flat();
        if (options.json) print(`${escapeInvisibleJson(JSON.stringify({ key, limits: rows }, null, 2))}\n`);
        else print(`${describeKey(key, rows)}\n`);
      }),
    );
}

/** Returns how much of each limit a key has used. */
async function inspect(live: LiveLimiter, key: string): Promise<LimitRow[]> {
  const { description, names } = live;
  return Promise.all(
    names.map(async (name) => {
      // Each limit alone, because the app may use different keys for them.
      const limits = await peek(live, [name], key);
      return toLimitRow(description.name, name, description.limits[name]!, limits[name]!);
    }),
  );
}

function describeKey(key: string, rows: readonly LimitRow[]): string {
  const cells = rows.map((row) => [
    toPlainText(row.limiter),
    toPlainText(row.limit),
    toPlainText(formatRule(row)),
    row.used === null ? '' : formatInteger(row.used),
    row.used === null ? '' : formatInteger(row.remaining ?? 0),
    row.used === null || row.slots !== undefined || row.resetMs === 0 ? '' : formatMs(row.resetMs),
    formatState(row),
  ]);
  const head = ['limiter', 'limit', 'rule', 'used', 'remaining', 'reset', 'state'];
  const table = `${toPlainText(key, 200)}\n\n${toTable([head, ...cells], [3, 4])}`;
  const isUnused = rows.length > 0 && rows.every(({ used, blocked }) => !used && !blocked);
  return isUnused ? `${table}\n\n${UNUSED}` : table;
}

/** What a mistyped key looks like, too. */
const UNUSED = 'This key has used nothing. `rollgate top` lists keys as your app passes them';

const EXAMPLES = `
Examples:
  rollgate inspect redis://localhost customer:7
  rollgate inspect env:DATABASE_URL 192.0.2.1 --limiter api --json`;
