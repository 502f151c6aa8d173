import { execFileSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { MemoryStore, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import { cachedLimits } from '@rollgate/core/cached-limits';
import { usageWarnings } from '@rollgate/core/observe';
import { refundInBackground } from '@rollgate/core/store';
import { rateLimit } from '@rollgate/express';
import { createFetch } from '@rollgate/fetch';
import { CHANNELS } from '@rollgate/test-support/channels';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import express from 'express';
import request from 'supertest';
import { FACTS } from '../bench/src/comparison/facts.js';
import { ALGORITHMS } from '../bench/src/limits.js';
import { quotaNames } from '../packages/store-conformance/src/algorithms.js';
import { checks } from '../packages/store-conformance/src/checks/index.js';
import { leadsSomewhere, linksIn, REPOSITORY } from './support/links.js';
import { pages } from './support/page-examples.js';

const ROOT = join(__dirname, '..');

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], { cwd: ROOT });
const files = listed.toString().trim().split('\n');

test.each(files)('%s links to files and headings that exist', (name) => {
  const page = join(ROOT, name);
  const links = linksIn(readFileSync(page, 'utf8'));
  expect(links.filter((target) => !leadsSomewhere(page, target))).toEqual([]);
});

describe('a link', () => {
  const page = join(ROOT, 'docs/errors.md');

  test.each([
    'observe.md',
    'observe.md#events',
    '../README.md',
    'https://example.com/page.md',
    `${REPOSITORY}/blob/main/docs/observe.md#events`,
    `${REPOSITORY}/issues`,
    '#errors',
    'https://rollgate-js.github.io/rollgate/',
    'https://rollgate-js.github.io/rollgate/observe#events',
  ])('to %s leads somewhere', (target) => expect(leadsSomewhere(page, target)).toBe(true));

  test.each([
    'https://rollgate-js.github.io/rollgate/event',
    'event.md',
    'observe.md#metric',
    `${REPOSITORY}/tree/main/docs/event.md`,
    '#error',
  ])('to %s leads nowhere', (target) => expect(leadsSomewhere(page, target)).toBe(false));

  test('in code is not a link', () => {
    expect(linksIn('[a](b) `[c](d)`\n```\n[e](f)\n```\n![`g`](h)')).toEqual(['b', 'h']);
  });
});

const PAGES = join(__dirname, '../docs/recipes');

/** The programs to which a page links, and the code on the page. */
function partsOf(name: string): { programs: string[]; blocks: string[] } {
  const text = readFileSync(join(PAGES, name), 'utf8');
  const links = [...text.matchAll(/\]\((\.\.\/\.\.\/examples\/[^)]+\.\w+)\)/g)].map(([, path]) => join(PAGES, path!));
  const blocks = [...text.matchAll(/^```\w+ fragment\n(.*?)\n```$/gms)].map(([, code]) => code!);
  return { programs: links.filter(existsSync).map((path) => readFileSync(path, 'utf8')), blocks };
}

test.each(readdirSync(PAGES))('the code in recipes/%s is part of a tested program', (name) => {
  const { programs, blocks } = partsOf(name);
  expect(blocks).not.toEqual([]);
  expect(blocks.filter((code) => !programs.some((program) => program.includes(code)))).toEqual([]);
});

/** Such as `npx jest packages/redis -t 'a title|another one'`. */
const commands = [
  ...readFileSync(join(ROOT, 'docs/guarantees.md'), 'utf8').matchAll(/`npx jest ([^`']+?)(?: -t '([^']+)')?`/g),
].map(([, paths, pattern]): [paths: string, titles: string[]] => [paths!, pattern?.split('|') ?? []]);

const testFiles = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts'], {
  cwd: ROOT,
})
  .toString()
  .trim()
  .split('\n');

const ofSuite = checks(() => new MemoryStore()).map(({ name }) => name);

/** The titles that a file's text contains, and those of the conformance suite if it runs that. */
function titlesIn(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const titles = [...text.matchAll(/\(\s*(['"`])(.+?)\1,\s*(?:async )?(?:\(|\w+ =>)/g)].map(([, , title]) => title!);
  return /\bchecks\(/.test(text) ? [...titles, ...ofSuite] : titles;
}

test.each(commands)('docs/guarantees.md names tests that exist: %s %j', (paths, titles) => {
  const files = paths.split(' ').map((path) => testFiles.filter((file) => file.startsWith(path)));
  expect(files).not.toContainEqual([]);
  const existing = files.flat().flatMap(titlesIn);
  expect(titles.filter((title) => !existing.some((one) => new RegExp(title, 'i').test(one)))).toEqual([]);
});

test('docs/guarantees.md names some tests by their title', () => {
  expect(commands.filter(([, titles]) => titles.length > 0).length).toBeGreaterThan(2);
});

const readme = readFileSync(join(__dirname, '../README.md'), 'utf8');
const [, shown] = /```http\n([\s\S]+?)\n```/.exec(readme)!;

/** Seconds, and times in seconds, differ in each run. */
const withoutTimes = (text: string) =>
  text.replace(/\b\d{10}\b/, '<time>').replace(/^(Retry-After): \d+$|\d+ seconds/, '$1 <seconds>');

test('the rejection in README.md is what a client gets', async () => {
  const app = express();
  app.use(rateLimit({ limit: 10, window: '1m' }));
  app.get('/', (_request, response) => void response.send('hello'));
  for (let count = 0; count < 10; count++) await request(app).get('/').expect(200);
  const { headers, text } = await request(app).get('/').expect(429);

  const [statusLine, ...lines] = shown!.split('\n');
  expect(statusLine).toBe('HTTP/1.1 429 Too Many Requests');
  const end = lines.indexOf('');
  const actual = lines.slice(0, end).map((line) => {
    const [name] = line.split(': ');
    return `${name}: ${headers[name!.toLowerCase()]}`;
  });
  expect(actual.map(withoutTimes)).toEqual(lines.slice(0, end).map(withoutTimes));
  expect(withoutTimes(text)).toBe(withoutTimes(lines.slice(end + 1).join('\n')));
});

describe('figures', () => {
  const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
  const readJson = (file: string) => JSON.parse(read(file));
  /** Every match of the pattern on a page, with its page, so that a failure names the page. */
  const findAll = (pattern: RegExp, files: readonly string[] = pages()) =>
    files.flatMap((file) =>
      Array.from(read(file).replace(/\s+/g, ' ').matchAll(pattern), (match) => ({ file, match })),
    );

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
      expect(read(`docs/migrating-from-${page}.md`)).toMatch(
        new RegExp(`(?:covers|about)\\s${library} ${version}[ .]`),
      );
    }
  });

  test('the pages state the default bound of keys and the default timeout', () => {
    const [, bound] = /DEFAULT_MAX_KEYS = ([\d_]+)/.exec(read('packages/core/src/memory/memory-store.ts'))!;
    expect(Number(bound!.replaceAll('_', ''))).toBe(1_000_000);
    const millions = findAll(/(?:its `maxKeys`, |at most )(?:one|a) million\b/g).map(({ file }) => file);
    expect(millions).toEqual(
      expect.arrayContaining(['docs/errors.md', 'docs/migrating-from-rate-limiter-flexible.md']),
    );
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
      Array.from(
        read(`packages/redis/src/lua/${file}.lua`).matchAll(/\bp?call\('([A-Z]+)'/g),
        ([, command]) => command!,
      ),
    );
    const general = commandsFor('every limiter');
    const own = [...new Set(called)].filter((command) => !general.includes(command));
    expect(own.sort()).toEqual(commandsFor(what).sort());
  });
});

describe('events', () => {
  const page = readFileSync(join(ROOT, 'docs/observe.md'), 'utf8');

  const membersIn = (text: string) => Array.from(text.matchAll(/^\| `(\w+)` +\|/gm), ([, member]) => member!);
  const sections = page.split(/^### /m);
  const sectionOf = (title: string) => sections.find((section) => section.split('\n', 1)[0]!.includes(title))!;
  const ofLimiters = membersIn(sectionOf('Events of a limiter'));

  /** The members that the page lists for a channel's events, some of which stand once for all limiters. */
  function membersOf(channel: string): string[] {
    const section = sectionOf(`\`${channel}\``);
    const shared = section.includes('](#events-of-a-limiter)') ? ofLimiters : [];
    return [...shared, ...membersIn(section)].sort();
  }

  const heard = new Map<string, object[]>(CHANNELS.map((channel) => [channel, []]));
  const listeners = CHANNELS.map((channel) => {
    const note = (event: unknown) => void heard.get(channel)!.push(event as object);
    return [channel, note] as const;
  });
  beforeAll(() => {
    for (const [channel, note] of listeners) subscribe(channel, note);
  });
  // The channels are the process's, in which tests of millions of checks may follow.
  afterAll(() => {
    for (const [channel, note] of listeners) unsubscribe(channel, note);
  });

  test('the page documents every channel and no other', () => {
    const sources = ['core', 'http', 'fetch', 'redis', 'express', 'fastify'].flatMap((name) =>
      readdirSync(join(ROOT, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => readFileSync(join(ROOT, 'packages', name, 'src', file), 'utf8')),
    );
    const published = sources.flatMap((source) =>
      [...source.matchAll(/channel\('([^']+)'\)/g)].map(([, name]) => name),
    );
    expect(published.sort()).toEqual(CHANNELS);
    expect([...page.matchAll(/^\| `(rollgate:[\w:]+)` /gm)].map(([, name]) => name).sort()).toEqual(CHANNELS);
  });

  test('the events have the documented members', async () => {
    const members = (channel: string) =>
      [...new Set(heard.get(channel)!.flatMap((event) => Object.keys(event)))].sort();

    const app = express();
    app.use(rateLimit({ limit: 1, window: '1m', skip: ({ path }) => path === '/health' }));
    app.use((_request, response) => {
      response.end();
    });
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const path of ['/', '/', '/health']) await fetch(url + path);
    server.close();
    for (const [channel, count] of [
      ['rollgate:decision', 2],
      ['rollgate:rejection', 1],
      ['rollgate:request', 2],
    ] as const) {
      expect(heard.get(channel)).toHaveLength(count);
      expect(members(channel)).toEqual(membersOf(channel));
    }
    expect(heard.get('rollgate:rejection')![0]).toBe(heard.get('rollgate:decision')![1]);

    const stop = usageWarnings({ warnAt: 0.5 });
    await new RateLimiter({ limits: '1/1m' }).check('ann');
    stop();
    expect(heard.get('rollgate:threshold')).toHaveLength(1);
    expect(members('rollgate:threshold')).toEqual(membersOf('rollgate:threshold'));

    const headers = { 'retry-after': '30' };
    const api = createFetch({ retry: false, fetch: async () => new Response(null, { headers, status: 429 }) });
    await api(url);
    const waiting = api(url).catch(() => {});
    while (heard.get('rollgate:fetch:wait')!.length === 0) await flushPromises();
    api.close();
    await waiting;
    for (const channel of ['rollgate:fetch:response', 'rollgate:fetch:wait']) {
      expect(heard.get(channel)).toHaveLength(1);
      expect(members(channel)).toEqual(membersOf(channel));
    }

    await cachedLimits({
      load: () => {
        throw new Error('down');
      },
      defaultLimits: '1/1m',
    })('ann');
    expect(heard.get('rollgate:limits:failure')).toHaveLength(1);
    expect(members('rollgate:limits:failure')).toEqual(membersOf('rollgate:limits:failure'));

    const queue = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1m' }) });
    refundInBackground(queue, { ...(await queue.check('ann')) });
    await flushPromises();
    expect(heard.get('rollgate:refund:failure')).toHaveLength(1);
    expect(members('rollgate:refund:failure')).toEqual(membersOf('rollgate:refund:failure'));

    const memory = new MemoryStore();
    let isBroken = true;
    const store: Store = {
      check: (...args) => (isBroken ? Promise.reject(new Error('broken')) : Promise.resolve(memory.check(...args))),
      peek: (...args) => memory.peek(...args),
      refund: (receipt) => memory.refund(receipt),
      reset: (...args) => memory.reset(...args),
    };
    const limiter = new RateLimiter({
      limits: rollingWindow({ limit: 1, window: '1m' }),
      store,
      onStoreError: 'allow',
    });
    await limiter.check('ann');
    await limiter.peek('ann');
    expect((await limiter.check('ann')).degraded).toBe('allow');
    isBroken = false;
    while (heard.get('rollgate:store:recovery')!.length === 0) {
      await limiter.check('ann');
      await flushPromises();
    }
    for (const channel of ['rollgate:store:failure', 'rollgate:store:recovery']) {
      expect(heard.get(channel)).toHaveLength(1);
      expect(members(channel)).toEqual(membersOf(channel));
    }
    expect(heard.get('rollgate:store:recovery')![0]).toMatchObject({ failures: 2, part: '' });
  });
});
