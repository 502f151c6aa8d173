import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { combinedLine, createRandom, START_MS, toLog } from './support/log-lines';
import { folder, rollgate, simulate, write } from './support/rollgate';

const LIMIT = ['--limit', '1/1m'];
const GOOD = toLog([
  { ms: START_MS, ip: '192.0.2.1' },
  { ms: START_MS + 1000, ip: '192.0.2.1' },
]);
const random = createRandom(9);
const NOISE = Buffer.from(Array.from({ length: 200_000 }, () => Math.floor(random() * 256)));

describe.each(['simulate', 'suggest', 'compare'])('%s exits with 1 and prints the reason', (command) => {
  const args = command === 'suggest' ? [command] : [command, ...LIMIT];

  test.each<[string, string | Buffer, RegExp]>([
    ['an empty file', '', /^rollgate: No line in bad\.log\n$/],
    ['empty lines', '\n\r\n\n', /^rollgate: No line in bad\.log\n$/],
    ['a binary file', NOISE, /^rollgate: No line in bad\.log is a request\. Is it a binary file\?\n$/],
    ['NUL bytes', Buffer.alloc(5_000_000), /^rollgate: No line in bad\.log is a request\. Is it a binary file\?\n$/],
    ['a line of 10 MB', 'a'.repeat(10_000_000), /line 1 of bad\.log: it is longer than 1 MB: "a+"\n$/],
    [
      'prose',
      'It was a dark\nand stormy night\n',
      /line 1 of bad\.log: it is in no known format; describe it with `--pattern`: "It was a dark"\n$/,
    ],
    [
      'JSON that is none',
      '{"time":1\n{}\n',
      /\(2 lines\) .*line 1 of bad\.log: it is not a JSON object: "\{\\"time\\":1"\n$/,
    ],
    [
      'gzip that ends early',
      gzipSync(NOISE).subarray(0, 1000),
      /^rollgate: Cannot read bad\.log: its gzip data ends too early\n$/,
    ],
    ['gzip that is damaged', damaged(gzipSync(NOISE)), /^rollgate: Cannot read bad\.log: its gzip data is damaged\n$/],
  ])('for %s', async (_, log, message) => {
    write('bad.log', log);
    const { code, stdout, stderr } = await rollgate([...args, 'bad.log']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
    const piped = await rollgate(args, { input: [Buffer.from(log)] });
    expect({ code: piped.code, stdout: piped.stdout }).toEqual({ code: 1, stdout: '' });
    expect(piped.stderr).toMatch(/standard input/);
  });

  test('for a missing file, before the others are read', async () => {
    write('good.log', GOOD);
    const { code, stdout, stderr } = await rollgate([...args, 'good.log', 'missing.log']);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: 'rollgate: Cannot read missing.log: there is no such file\n',
    });
  });

  test('for a folder', async () => {
    const { code, stderr } = await rollgate([...args, folder()]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^rollgate: Cannot read .+: it is a directory\n$/);
  });

  test('for a log that names no caller', async () => {
    write('good.log', GOOD);
    const { code, stderr } = await rollgate([...args, 'good.log', '--by', 'user']);
    expect(code).toBe(1);
    expect(stderr).toBe(
      'rollgate: No request in good.log (2 lines) names a caller; name its field with `--key-field`, or see `--by`\n',
    );
  });
});

function damaged(bytes: Buffer): Buffer {
  return bytes.fill(0xff, 500, 600);
}

const dated = (date: string) => `192.0.2.9 - - [${date}] "GET / HTTP/1.1" 200 1`;

test.each<[string, string, string]>([
  ['a line of 10 MB', 'a'.repeat(10_000_000), 'it is longer than 1 MB'],
  [
    'a line of 10 MB that begins well',
    `${dated('01/Mar/2026:00:00:00 +0000')} "${'a'.repeat(10_000_000)}"`,
    'it is longer than 1 MB',
  ],
  [
    'NUL bytes before a line',
    `\0\0\0${dated('01/Mar/2026:00:00:00 +0000')}`,
    'it is not in the common or combined format',
  ],
  ['a day that is none', dated('31/Feb/2026:00:00:00 +0000'), 'there is no such date'],
  ['a month that is none', dated('01/Foo/2026:00:00:00 +0000'), 'there is no such date'],
  ['an hour that is none', dated('01/Mar/2026:24:00:00 +0000'), 'there is no such date'],
  ['a second that is none', dated('01/Mar/2026:00:00:77 +0000'), 'there is no such date'],
  ['a date that is none', dated('yesterday'), 'its time is not like [17/May/2015:10:05:03 +0000]'],
  ['the year 0', dated('01/Jan/0000:00:00:00 +0000'), 'it is not from 1970 to 2099'],
  ['the year 9999', dated('01/Jan/9999:00:00:00 +0000'), 'it is not from 1970 to 2099'],
  ['a line cut off', dated('01/Mar/2026:00:00:00 +0000').slice(0, -4), 'it is not in the common or combined format'],
  [
    'a quote that does not end',
    dated('01/Mar/2026:00:00:00 +0000').replace('1.1"', '1.1\\"'),
    'it is not in the common or combined format',
  ],
])('%s among valid lines is counted, and the first is shown', async (_, bad, reason) => {
  const [first, second] = GOOD.trimEnd().split('\n');
  write('mixed.log', [first, bad, bad, second].join('\n'));
  const { requests, rejectedRequests, log } = await simulate(['mixed.log', ...LIMIT]);
  expect({ requests, rejectedRequests }).toEqual({ requests: 2, rejectedRequests: 1 });
  expect(log).toMatchObject({
    lines: 4,
    unparsedLines: 2,
    firstUnparsed: { file: 'mixed.log', line: 2, reason, text: bad.slice(0, 100) },
  });
});

test.each([
  ['no time', '{"ip":"a"}', 'it has no time in a field with a common name; name it with `--time-field`'],
  ['a time that is none', '{"time":{},"ip":"a"}', 'its time is neither text nor a number'],
  [
    'a date alone',
    '{"time":"2026-03-01","ip":"a"}',
    'its time is neither ISO 8601, nor a number, nor of the common format',
  ],
  ['a negative time', '{"time":-5,"ip":"a"}', 'it is not from 1970 to 2099'],
  ['a list', '[1,2]', 'it is not a JSON object'],
  ['brackets within brackets', '['.repeat(500_000), 'it is not a JSON object'],
])('in JSON lines: %s', async (_, bad, reason) => {
  write('mixed.log', [`{"time":${START_MS},"ip":"a"}`, bad].join('\n'));
  const { requests, log } = await simulate(['mixed.log', ...LIMIT]);
  expect({ requests, reason: log.firstUnparsed?.reason }).toEqual({ requests: 1, reason });
});

test('control characters of a log do not reach the terminal', async () => {
  const line = (path: string) => combinedLine({ ms: START_MS, ip: '192.0.2.1', path });
  const evil = '/\u001b]0;owned\u0007\u001b[31m\u202e';
  write('evil.log', [line(evil), line(evil), '\u001b[2J'].join('\n'));
  const { stdout, stderr } = await rollgate(['simulate', 'evil.log', ...LIMIT, '--by', 'path']);
  expect(stdout).toContain('/\\u001b]0;owned\\u0007\\u001b[31m\\u202e');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
  expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});

/** Characters that cannot be seen, or that change how others are shown: as text, and as reports show them. */
const INVISIBLE: readonly (readonly [string, string])[] = [
  ['\u200f', '\\u200f'], // Right-to-left mark.
  ['\u061c', '\\u061c'], // Arabic letter mark.
  ['\u202e', '\\u202e'],
  ['\u2066', '\\u2066'],
  ['\u200b', '\\u200b'],
  ['\u200d', '\\u200d'], // A joiner that joins no emoji.
  ['\u00ad', '\\u00ad'],
  ['\ufff9', '\\ufff9'],
  ['\u{e0001}', '\\u{e0001}'], // Tags.
  ['\u{e0041}', '\\u{e0041}'],
  ['\u{e0100}', '\\u{e0100}'], // Variation selectors, which can carry any text.
  ['\ufe0e', '\\ufe0e'],
  ['\u3164', '\\u3164'], // A letter without ink.
  ['\u{1d173}', '\\u{1d173}'],
  ['\u009b', '\\u009b'], // Begins a command in terminals of eight bits.
  ['\ud800', '\\ud800'],
];
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
const INVISIBLE_CHARACTER = /[\0-\x09\x0b-\x1f\x7f-\x9f\xad\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;

test('invisible characters of a log do not reach a terminal or a page', async () => {
  const user = `a${INVISIBLE.map(([character]) => character).join('b')}c`;
  const record = JSON.stringify({ time: START_MS, user });
  write('unseen.log', [record, record, `{"time":1${user}`].join('\n'));
  const args = ['simulate', 'unseen.log', ...LIMIT, '--by', 'user'];
  const { stdout, stderr } = await rollgate([...args, '--html', 'unseen.html']);
  expect(stdout + stderr).not.toMatch(INVISIBLE_CHARACTER);
  const page = readFileSync(join(folder(), 'unseen.html'), 'utf8');
  const cells = page.slice(page.indexOf('<body>'), page.indexOf('<script'));
  expect(cells).not.toMatch(INVISIBLE_CHARACTER);
  expect(cells).toContain(`a${INVISIBLE.map(([, shown]) => shown).join('b')}c`);
  const json = await rollgate([...args, '--json']);
  expect(json.stdout).not.toMatch(INVISIBLE_CHARACTER);
  expect(JSON.parse(json.stdout).worstHit[0].key).toBe(user);
});

test('invisible characters in a file name do not reach the terminal', async () => {
  const name = 'late\u202e\u200f.log';
  const times = [START_MS + 60_000, START_MS + 60_000, START_MS];
  write(name, times.map((time) => `{"time":${time},"ip":"a"}`).join('\n'));
  const { code, stdout, stderr } = await rollgate(['simulate', name, ...LIMIT, '--tolerance', '1s']);
  expect({ code, isShown: stderr.includes('late\\u202e\\u200f.log') }).toEqual({ code: 0, isShown: true });
  expect(stdout + stderr).not.toMatch(INVISIBLE_CHARACTER);
});

test('names of JavaScript object properties are valid callers', async () => {
  const keys = ['__proto__', 'constructor', '__proto__', '😀', '😀'];
  write('names.log', keys.map((ip) => `{"time":${START_MS},"ip":${JSON.stringify(ip)}}`).join('\n'));
  const { callers, rejectedRequests, worstHit } = await simulate(['names.log', ...LIMIT]);
  expect({ callers, rejectedRequests }).toEqual({ callers: 3, rejectedRequests: 2 });
  expect(worstHit.map(({ key }) => key).sort()).toEqual(['__proto__', '😀']);
});

const HEAD = '192.0.2.9:5 [01/Mar/2026:00:00:00] ';

// In each of these, a part of the line repeats. A pattern that starts again at each of them would take hours.
test.each([
  ['brackets', '', ' [1'],
  ['a word after pairs of names and values', 'a=b c=d ', 'x'],
  ['quotes after pairs of names and values', 'a=b c=d ', 'x="'],
  ['slashes in the format of HAProxy', `${HEAD}f `, '/'],
  ['quotes in the format of HAProxy, and another line end', `\u2028${HEAD}f b/c 1/2 1 `, 'a"'],
  ['quotes in the format of HAProxy before another line end', `${HEAD}f b/c 1/2 1 `, 'a"', '\u2028'],
])('a line of 900 kB takes linear time: %s', async (_, start, part, end = '') => {
  write('long.log', `${GOOD}${start}${part.repeat(900_000 / part.length)}${end}\n`);
  expect(await simulate(['long.log', ...LIMIT, '--by', 'forwarded'])).toMatchObject({ log: { lines: 3 } });
});
