import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FACTS } from '../bench/src/comparison/facts';
import { ALGORITHMS } from '../bench/src/limits';
import { quotaNames } from '../packages/store-conformance/src/algorithms';
import { pages } from './support/page-examples.js';

const ROOT = join(__dirname, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const readJson = (file: string) => JSON.parse(read(file));
/** Every match of the pattern on a page, with its page, so that a failure names the page. */
const findAll = (pattern: RegExp, files: readonly string[] = pages()) =>
  files.flatMap((file) => Array.from(read(file).replace(/\s+/g, ' ').matchAll(pattern), (match) => ({ file, match })));

const WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

test('the pages count the algorithms right', () => {
  const [all, withWindow] = [WORDS[quotaNames.length]!, WORDS[ALGORITHMS.length]!];
  const known = [
    `${all} algorithms`,
    `${withWindow} of the ${all} algorithms`,
    `${withWindow} algorithms with a window`,
  ];
  // What is in quotes is a button of the playground.
  const counts = findAll(/(?<!"All )\b(?:\w+ of the )?(\w+) algorithms\b(?: with a window)?/gi)
    .filter(({ match }) => WORDS.includes(match[1]!.toLowerCase()))
    .map(({ file, match: [text] }) => ({ file, text: text.toLowerCase() }));
  expect(counts.length).toBeGreaterThan(1);
  expect(counts.filter(({ text }) => !known.includes(text))).toEqual([]);
  expect(FACTS.rollgate.algorithms.split(':')[0]).toBe(String(quotaNames.length));
});

test.each([
  ['express', 'Express'],
  ['fastify', 'Fastify'],
  ['hono', 'Hono'],
  ['koa', 'Koa'],
  ['nestjs', 'NestJS'],
])('every page supports the versions of the manifest of %s', (folder, title) => {
  const { peerDependencies } = readJson(`packages/${folder}/package.json`);
  const range: string = peerDependencies[folder === 'nestjs' ? '@nestjs/core' : folder];
  const majors = Array.from(range.matchAll(/\^(\d+)/g), ([, major]) => major!);
  const both = findAll(new RegExp(`\\b${title} (\\d+)(?: (?:and|or) (\\d+))?\\b`, 'g'));
  const others = both.filter(({ match }) =>
    match.slice(1).some((major) => major !== undefined && !majors.includes(major)),
  );
  expect(others.map(({ file, match }) => `${file}: ${match[0]}`)).toEqual([]);
  const README = both.filter(({ file }) => file === 'README.md').map(({ match }) => match[0]);
  expect(README).toContain(`${title} ${majors.join(' and ')}`);
});

test('the migration pages name the versions with which their programs run', () => {
  for (const [library, page] of [
    ['express-rate-limit', 'express-rate-limit'],
    ['@fastify/rate-limit', 'fastify-rate-limit'],
    ['rate-limiter-flexible', 'rate-limiter-flexible'],
    ['rolling-rate-limiter', 'rate-limiter-flexible'],
  ]) {
    const { version } = readJson(`examples/node_modules/${library}/package.json`);
    expect(read(`docs/migrating-from-${page}.md`)).toMatch(new RegExp(`(?:covers|about)\\s${library} ${version}[ .]`));
  }
});

test('the pages state the default bound of keys and the default timeout', () => {
  const [, bound] = /DEFAULT_MAX_KEYS = ([\d_]+)/.exec(read('packages/core/src/memory/memory-store.ts'))!;
  expect(Number(bound!.replaceAll('_', ''))).toBe(1_000_000);
  const millions = findAll(/(?:its `maxKeys`, |at most )(?:one|a) million\b/g).map(({ file }) => file);
  expect(millions).toEqual(expect.arrayContaining(['docs/errors.md', 'docs/migrating-from-rate-limiter-flexible.md']));
  expect(read('docs/migrating-from-fastify-rate-limit.md')).toMatch(/`cache` .*MemoryStore.*`1000000`/);
  const [, timeout] = /DEFAULT_TIMEOUT_MS = (\d+);/.exec(read('packages/core/src/validation/duration.ts'))!;
  const timeouts = findAll(/`timeout`,? \(?(?:\| `)?(\d+)`? \(?ms/g);
  expect(timeouts.length).toBeGreaterThan(2);
  expect(timeouts.filter(({ match }) => match[1] !== timeout)).toEqual([]);
});

test('the overview states the sizes that each commit must keep', () => {
  const limits = Array.from(read('.size-limit.mjs').matchAll(/limit: '([^']+)'/g), ([, limit]) => limit);
  const [, table] = read('docs/overview.md').split('## What an app loads');
  const stated = Array.from(table!.matchAll(/^\| [^|]+ \| (\d[\d.]* kB)/gm), ([, size]) => size);
  expect(stated.length).toBeGreaterThan(0);
  expect(stated).toEqual(limits);
});

test('the page of the algorithms has the figures of the replayed log', () => {
  const page = read('docs/algorithms.md').replace(/\s+/g, ' ');
  const rowOf = (what: string) => {
    const [, ...cells] = read('bench/README.md')
      .split('\n')
      .find((line) => line.startsWith(`| log moved by 0, 1, … 59 s, 10 a minute: ${what} `))!
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    return cells;
  };
  const [, , counterShare, fixedShare] = rowOf('allowed though the window was full').map(
    (cell) => /([\d.]+) %/.exec(cell)?.[1],
  );
  const [, , counterMost, fixedMost] = rowOf('the most in any minute').map((cell) => /^\d+/.exec(cell)?.[0]);
  expect(page).toContain(`\`slidingWindowCounter\` admitted ${Number(counterShare).toFixed(1)}% of the requests`);
  expect(page).toContain(`\`fixedWindow\` admitted ${Number(fixedShare).toFixed(1)}%`);
  expect(page).toContain(`In the worst minute, they admitted ${counterMost} and ${fixedMost} requests instead of 10`);
});

test.each(['README.md', 'docs/index.md'])('the headline of %s has the figures of the comparison', (file) => {
  const { rows } = readJson('bench/results/comparison.json');
  const { cells } = rows.find(({ what }: { what: string }) => what === 'most-in-window');
  const [exact, others] = ['rollgate', 'express-rate-limit'].map((library) => cells[library].text);
  expect(read(file).replaceAll('&nbsp;', ' ')).toContain(`10 per minute means ${exact}. Not ${others}.`);
});

test.each([
  [
    "the rolling window with `log: 'packed'`",
    ['hit-log/hit-log-packed', 'hit-log/hit-log-packed-rewrite', 'limits/rolling-window'],
  ],
  ["the rolling window with `log: 'sorted-set'`", ['hit-log/hit-log-sorted-set']],
  ['`concurrency`', ['limits/concurrency']],
])('the page for operators lists the commands that Redis must allow for %s', (what, files) => {
  const lines = read('docs/redis.md').split('\n');
  const commandsFor = (name: string) => {
    const cells = lines.find((line) => line.startsWith(`| ${name} `))!.split('|');
    return Array.from(cells[2]!.matchAll(/`([A-Z]+)`/g), ([, command]) => command!);
  };
  const called = files.flatMap((file) =>
    Array.from(read(`packages/redis/src/lua/${file}.lua`).matchAll(/\bp?call\('([A-Z]+)'/g), ([, command]) => command!),
  );
  const general = commandsFor('every limiter');
  const own = [...new Set(called)].filter((command) => !general.includes(command));
  expect(own.sort()).toEqual(commandsFor(what).sort());
});
