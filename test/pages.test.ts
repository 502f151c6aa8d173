import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryStore } from '@rollgate/core';
import { rateLimit } from '@rollgate/express';
import express from 'express';
import request from 'supertest';
import { checks } from '../packages/store-conformance/src/checks/index';
import { leadsSomewhere, linksIn, REPOSITORY } from './support/links.js';

const ROOT = join(__dirname, '..');
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], { cwd: ROOT });
const pages = listed.toString().trim().split('\n');

test.each(pages)('%s links to files and headings that exist', (name) => {
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
