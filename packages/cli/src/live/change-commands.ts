import { createInterface } from 'node:readline/promises';
import { credit } from '@rollgate/core/credit';
import { isUsed } from '@rollgate/core/store';
import type { Command } from 'commander';
import { UsageError } from '../errors.js';
import { print } from '../output.js';
import { escapeInvisibleJson, toPlainText } from '../report/escape-invisible.js';
import { parseDurationOption } from '../usage.js';
import { liveCommand } from './live-command.js';
import { keysFor, type LiveLimiter, type LiveOptions, peek, withLimiters } from './live-limiters.js';
import { parseCount, parseKey, parseKeys } from './parse-values.js';

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

export function resetCommand(): Command {
  return changeCommand('reset')
    .argument('<key...>', 'keys of clients, as your app passes them', parseKeys)
    .addHelpText('after', RESET_EXAMPLES)
    .action((url: string, keys: readonly string[], options: ChangeOptions) =>
      change(url, keys, options, {
        verb: 'Reset',
        done: 'Reset',
        missing: NO_LIMIT,
        namesOf: ({ names }) => names,
        // A key without a state has nothing to reset.
        isNeeded: hasState,
        run: async ({ live, key, names }) => {
          for (const name of names) await live.limiter.reset(keysFor([name], key));
        },
      }),
    );
}

/** The algorithms whose limits have no used units to give back. */
const WITHOUT_UNITS = ['block', 'concurrency', 'leaky-bucket'];

export function creditCommand(): Command {
  return changeCommand('credit')
    .argument('<key>', 'key of a client, as your app passes it', parseKey)
    .argument('<units>', 'how many used units to give back', parseCount('<units>'))
    .option('--beyond', 'adds what exceeds the used units to the present period of calendar windows')
    .addHelpText('after', CREDIT_EXAMPLES)
    .action((url: string, key: string, units: number, options: ChangeOptions & { readonly beyond?: boolean }) => {
      const { beyond = false } = options;
      const takes = (algorithm: string) =>
        beyond ? algorithm === 'calendar-window' : !WITHOUT_UNITS.includes(algorithm);
      return change(url, [key], options, {
        verb: 'Credit',
        done: `Gave up to ${units} back to`,
        missing: beyond ? NO_PERIOD : NO_UNITS,
        namesOf: ({ description, names }) => names.filter((name) => takes(description.limits[name]!.algorithm)),
        isNeeded: async (target) => beyond || hasState(target),
        run: async ({ live, key, names }) => {
          await credit(live.limiter, keysFor(names, key), units, { beyond });
        },
      });
    });
}

export function blockCommand(): Command {
  return changeCommand('block')
    .argument('<key>', 'key of a client, as your app passes it', parseKey)
    .argument('<duration>', 'time such as 1h, or forever', parseBlock)
    .addHelpText('after', BLOCK_EXAMPLES)
    .action((url: string, key: string, duration: number, options: ChangeOptions) =>
      change(url, [key], options, {
        verb: 'Block',
        done: 'Blocked',
        missing: NO_BLOCK,
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
  return text === 'forever' ? Number.POSITIVE_INFINITY : parseDurationOption('<duration>', text);
}

interface Change {
  readonly verb: string;
  readonly done: string;
  /** The error if no limiter has a limit that the command can change. */
  readonly missing: string;
  /** The limits of a limiter that the command can change. */
  readonly namesOf: (live: LiveLimiter) => readonly string[];
  readonly isNeeded: (target: Target) => Promise<boolean>;
  readonly run: (target: Target) => Promise<void>;
}

async function change(
  url: string,
  keys: readonly string[],
  options: ChangeOptions,
  { verb, done, missing, namesOf, isNeeded, run }: Change,
): Promise<void> {
  const { limit, yes = false, json = false } = options;
  await withLimiters(url, { ...options, isReadOnly: false }, async (limiters) => {
    const changed = limiters.flatMap((live) => {
      const names = namesOf(live).filter((name) => limit === undefined || name === limit);
      return names.length === 0 ? [] : [{ live, names }];
    });
    if (changed.length === 0) throw new UsageError(limit === undefined ? missing : describeMissing(verb, limit));
    const all = changed.flatMap(({ live, names }) => keys.map((key) => ({ live, key, names })));
    const needed = await Promise.all(all.map(isNeeded));
    const targets = all.filter((_, index) => needed[index]);
    const list = targets.map(({ live, key }) => `${toPlainText(key, 200)} in ${toPlainText(live.description.name)}`);
    if (targets.length > 1 && !yes) {
      const isConfirmed = await confirm(`${verb} ${targets.length} keys: ${list.join(', ')}`);
      if (!isConfirmed) return print('Nothing was changed\n');
    }
    for (const target of targets) await run(target);
    if (json) return print(`${escapeInvisibleJson(JSON.stringify({ changed: targets.map(toJson) }))}\n`);
    for (const one of list) print(`${done} ${one}\n`);
    const unchanged = keys.filter((key) => targets.every((target) => target.key !== key));
    for (const key of unchanged) print(`Nothing to ${verb.toLowerCase()} for ${toPlainText(key, 200)}\n`);
  });
}

const toJson = ({ live, key, names }: Target) => ({ limiter: live.description.name, key, limits: names });

async function hasState({ live, key, names }: Target): Promise<boolean> {
  const limits = await Promise.all(names.map(async (name) => (await peek(live, [name], key))[name]!));
  return limits.some(isUsed);
}

function describeMissing(verb: string, limit: string): string {
  return `Expected \`--limit\` to name a limit that this can ${verb.toLowerCase()}, got ${JSON.stringify(limit)}`;
}

const NO_LIMIT = 'Expected a limiter with a limit, got none';
const NO_BLOCK = 'Expected a limiter with a limit of `block()`, got none. Add `blocked: block()` to its `limits`';
const NO_UNITS = 'Expected a limiter with a limit that counts units, got none. Use `reset` for other limits';
const NO_PERIOD = 'Expected a limiter with a `calendarWindow`, got none. Leave out `--beyond` for other limits';

const CREDIT_EXAMPLES = `
Examples:
  rollgate credit redis://localhost customer:7 100
  rollgate credit env:DATABASE_URL customer:7 5000 --limiter api --limit month --beyond`;

const RESET_EXAMPLES = `
Examples:
  rollgate reset redis://localhost customer:7
  rollgate reset env:DATABASE_URL 192.0.2.1 --limiter api --limit day`;

const BLOCK_EXAMPLES = `
Examples:
  rollgate block redis://localhost 192.0.2.1 1h
  rollgate block redis://localhost customer:7 forever --limiter api`;

/**
 * Asks on a terminal whether to go on.
 *
 * @throws UsageError without a terminal, because nobody could answer.
 */
async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError(`${question}? Nobody can answer without a terminal. Pass \`--yes\``);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question(`${question}? [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
