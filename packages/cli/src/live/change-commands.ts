import { isUsed } from '@rollgate/core/store';
import type { Command } from 'commander';
import { UsageError } from '../errors.js';
import { print } from '../output.js';
import { escapeInvisibleJson, toPlainText } from '../report/escape-invisible.js';
import { confirm } from './confirm.js';
import { liveCommand } from './live-command.js';
import { keysFor, type LiveLimiter, type LiveOptions, peek, withLimiters } from './live-limiters.js';
import { parseKey, parseKeys, parseTime } from './parse-values.js';

interface ChangeOptions extends LiveOptions {
  readonly limit?: string;
  readonly yes?: boolean;
}

/** A key to change in a limiter. */
interface Target {
  readonly live: LiveLimiter;
  readonly key: string;
  /** The limits to change. */
  readonly names: readonly string[];
}

/** `rollgate reset`. */
export function resetCommand(): Command {
  return changeCommand('reset')
    .argument('<key...>', 'keys of clients, as your app passes them', parseKeys)
    .addHelpText('after', RESET_EXAMPLES)
    .action((url: string, keys: readonly string[], options: ChangeOptions) =>
      change(url, keys, options, {
        verb: 'Reset',
        done: 'Reset',
        namesOf: ({ names }) => names,
        // A key without a state has nothing to reset.
        isNeeded: hasState,
        run: async ({ live, key, names }) => {
          for (const name of names) await live.limiter.reset(keysFor([name], key));
        },
      }),
    );
}

/** `rollgate block`. */
export function blockCommand(): Command {
  return changeCommand('block')
    .argument('<key>', 'key of a client, as your app passes it', parseKey)
    .argument('<duration>', 'time such as 1h, or forever', parseBlock)
    .addHelpText('after', BLOCK_EXAMPLES)
    .action((url: string, key: string, duration: number, options: ChangeOptions) =>
      change(url, [key], options, {
        verb: 'Block',
        done: 'Blocked',
        namesOf: ({ description, names }) => names.filter((name) => description.limits[name]!.algorithm === 'block'),
        isNeeded: async () => true,
        run: async ({ live, key, names }) => {
          await live.limiter.block(keysFor(names, key), duration);
        },
      }),
    );
}

function changeCommand(name: string): Command {
  return liveCommand(name)
    .option('--limit <name>', 'only the limit with this name')
    .option('--yes', 'do not ask before changing more than one key');
}

function parseBlock(text: string): number {
  return text === 'forever' ? Number.POSITIVE_INFINITY : parseTime('<duration>')(text);
}

interface Change {
  readonly verb: string;
  readonly done: string;
  /** The limits of a limiter that the command can change. */
  readonly namesOf: (live: LiveLimiter) => readonly string[];
  readonly isNeeded: (target: Target) => Promise<boolean>;
  readonly run: (target: Target) => Promise<void>;
}

async function change(
  url: string,
  keys: readonly string[],
  options: ChangeOptions,
  { verb, done, namesOf, isNeeded, run }: Change,
): Promise<void> {
  const { limit, yes = false, json = false } = options;
  await withLimiters(url, { ...options, isReadOnly: false }, async (limiters) => {
    const changed = limiters.flatMap((live) => {
      const names = namesOf(live).filter((name) => limit === undefined || name === limit);
      return names.length === 0 ? [] : [{ live, names }];
    });
    if (changed.length === 0) throw new UsageError(describeMissing(verb, limit));
    const all = changed.flatMap(({ live, names }) => keys.map((key) => ({ live, key, names })));
    const needed = await Promise.all(all.map(isNeeded));
    const targets = all.filter((_, index) => needed[index]);
    const list = targets.map(({ live, key }) => `${toPlainText(key, 200)} in ${toPlainText(live.description.name)}`);
    if (targets.length > 1 && !yes) {
      const isConfirmed = await confirm(`${verb} ${targets.length} keys: ${list.join(', ')}`);
      if (!isConfirmed) return print('Nothing was changed\n');
    }
    for (const target of targets) await run(target);
    if (json) print(`${escapeInvisibleJson(JSON.stringify({ changed: targets.map(toJson) }))}\n`);
    else if (targets.length === 0) print('No such key has a state, so nothing was changed\n');
    else for (const one of list) print(`${done} ${one}\n`);
  });
}

const toJson = ({ live, key, names }: Target) => ({ limiter: live.description.name, key, limits: names });

async function hasState({ live, key, names }: Target): Promise<boolean> {
  const limits = await Promise.all(names.map(async (name) => (await peek(live, [name], key))[name]!));
  return limits.some(isUsed);
}

function describeMissing(verb: string, limit: string | undefined): string {
  if (limit !== undefined)
    return `Expected \`--limit\` to name a limit that this can ${verb.toLowerCase()}, got ${JSON.stringify(limit)}`;
  return 'Expected a limiter with a limit of `block()`, got none. Add `blocked: block()` to its `limits`';
}

const RESET_EXAMPLES = `
Examples:
  rollgate reset redis://localhost customer:7
  rollgate reset env:DATABASE_URL 192.0.2.1 --limiter api --limit day`;

const BLOCK_EXAMPLES = `
Examples:
  rollgate block redis://localhost 192.0.2.1 1h
  rollgate block redis://localhost customer:7 forever --limiter api`;
