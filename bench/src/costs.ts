import { markdownTable } from 'markdown-table';
import { figureOf, range, tenths, whole } from './format.js';
import { replaceSection } from './page-sections.js';
import type { ReadResults } from './readme.js';

const IN_MEMORY = ['memory, ns/check, allowed, 10 of a key at once', 'memory, ns/check, allowed, evenly'];
const REDIS = 'Redis, server CPU µs/check within commands, 64 in flight';
const IN_REDIS = [`${REDIS}, new keys`, `${REDIS}, 90 hits in the window`];

/** Returns `docs/algorithms.md` with the costs of the algorithms. */
export function renderCosts(page: string, read: ReadResults): string {
  const algorithms = read('algorithms');
  const rangeOf = (rows: readonly string[], name: string, write: (value: number) => string) =>
    range(
      rows.map((row) => figureOf(algorithms, row, name)),
      write,
    );
  const rows = Object.keys(algorithms.headers).map((name) => [
    `\`${name}\``,
    whole(figureOf(algorithms, 'memory, bytes per key with 100 hits', name)),
    whole(figureOf(algorithms, 'Redis, bytes per key with 100 hits', name)),
    rangeOf(IN_MEMORY, name, whole),
    rangeOf(IN_REDIS, name, tenths),
  ]);
  const head = ['algorithm', 'memory, bytes', 'Redis, bytes', 'memory, ns', 'Redis, µs'];
  return replaceSection(page, 'costs', markdownTable([head, ...rows], { align: ['l', 'r', 'r', 'r', 'r'] }));
}

/** Returns `docs/redis.md` with the sizes of the logs. */
export function renderLogSizes(page: string, read: ReadResults): string {
  const state = read('redis-state');
  const rows = state.rows.flatMap(({ what }) => {
    const [, hits] = /^bytes per key with ([\d,]+) hits$/.exec(what) ?? [];
    return hits === undefined
      ? []
      : [[hits, ...['rollgate', 'rollgate, sorted-set'].map((log) => whole(figureOf(state, what, log)))]];
  });
  const head = ['hits of a key', 'packed, bytes', 'sorted set, bytes'];
  return replaceSection(page, 'log sizes', markdownTable([head, ...rows], { align: ['r', 'r', 'r'] }));
}
