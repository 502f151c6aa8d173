import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rollgate, write } from './support/rollgate';

const PAGE = readFileSync(join(__dirname, '../../../docs/cli.md'), 'utf8');

/** The commands of the page that a block of text follows, which is what they print. */
const shown = Array.from(
  PAGE.matchAll(/^```sh\nnpx @rollgate\/cli ([^\n]+)\n```\n\n```text\n(.*?)\n```$/gms),
  ([, command, output]) => ({ command: command!, output: output! }),
);

/** A log as that of the page: most callers send few requests, and one sends far more than all others within single minutes. */
function log(): string {
  const requests: { ip: string; second: number }[] = [];
  const send = (ip: string, start: number, count: number, seconds: number) => {
    for (let index = 0; index < count; index++)
      requests.push({ ip, second: start + Math.floor((index * seconds) / count) });
  };
  for (let caller = 1; caller <= 250; caller++) {
    for (let minute = caller % 7; minute < 50; minute += 7)
      send(`198.51.100.${caller}`, minute * 60, 1 + (caller % 3), 59);
  }
  for (const [caller, count] of [47, 48, 60].entries()) send(`192.0.2.${caller}`, 1200, count, 59);
  send('203.0.113.9', 1800, 108, 59);
  send('203.0.113.9', 2400, 8, 1);
  requests.sort((one, other) => one.second - other.second);
  const start = Date.UTC(2015, 4, 17, 10);
  return requests
    .map(({ ip, second }) =>
      JSON.stringify({ time: new Date(start + second * 1000).toISOString().replace('.000', ''), ip }),
    )
    .join('\n');
}

/** What a text says apart from its figures, on which its bars, columns and line breaks depend. */
const wordsOf = (text: string) =>
  text
    .replace(/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '<time>')
    .replace(/\d[\d,.]*/g, '#')
    .replace(/[█▏▎▍▌▋▊▉]+/g, '')
    .replace(/\bnone\b/g, '#')
    .replace(/\s+/g, ' ')
    .trim();

test('docs/cli.md shows what some commands print', () => {
  expect(shown.map(({ command }) => command.split(' ')[0])).toEqual(['suggest', 'simulate', 'compare']);
});

test.each(shown)('rollgate $command prints the lines of docs/cli.md', async ({ command, output }) => {
  write('access.log', log());
  const args = command.split(' ');
  const { code, stdout } = await rollgate(args);
  expect(code).toBe(0);
  const printed = wordsOf(stdout);
  expect(output.split('\n').filter((line) => !printed.includes(wordsOf(line)))).toEqual([]);
});
