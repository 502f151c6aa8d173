import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rateLimit } from '@rollgate/express';
import express from 'express';
import request from 'supertest';

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
