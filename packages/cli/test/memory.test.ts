import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { combinedLine, START_MS } from './support/log-lines';
import { rollgate, simulate, write } from './support/rollgate';

const LINES = 2_000;
const COPIES = 45;
const CALLERS = 500;
/** Between one copy of the log and the next. */
const SHIFT_MS = LINES * 100;

/** Repeats the log. Each copy is later than the one before. All commands read the same, because it takes a second of CPU. */
const repeated = Array.from({ length: COPIES }, (_, copy) => {
  const lines = Array.from({ length: LINES }, (_, index) => {
    const caller = (index * 7919) % CALLERS;
    return combinedLine({
      ms: START_MS + copy * SHIFT_MS + index * 100,
      ip: `198.18.${caller >> 8}.${caller & 255}`,
    });
  });
  return Buffer.from(`${lines.join('\n')}\n`);
});

/**
 * 14 MB: each command needs 11 MB, and 90,000 requests that were kept would not fit. Garbage is collected at once and as a
 * whole. What a collection in the background leaves behind would depend on how busy the machine is.
 */
const SMALL_HEAP = [
  '--max-old-space-size=14',
  '--max-semi-space-size=1',
  '--single-threaded-gc',
  '--no-incremental-marking',
];

test.each([
  ['simulate', ['--limit', '5/1m']],
  ['suggest', []],
  ['compare', ['--limit', '5/1m']],
])('%s reads 90,000 requests with a heap that has no room for them', async (command, args) => {
  const { code, stdout, stderr } = await rollgate([command, ...args], { input: repeated, nodeOptions: SMALL_HEAP });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`${(LINES * COPIES).toLocaleString('en-US')} requests of ${CALLERS} callers`);
});

/** Lines of 900 kB with different paths: 40 MB, which gzip packs into 50 kB. */
function logOfLongPaths(): Buffer {
  const lines = Array.from({ length: 45 }, (_, index) => {
    return `${combinedLine({ ms: START_MS + index, ip: '192.0.2.1', path: `/${'a'.repeat(900_000)}/${index}` })}\n`;
  });
  return Buffer.concat(lines.map((line) => gzipSync(line)));
}

test.each([
  ['simulate', ['--limit', '1/1m']],
  ['suggest', []],
  ['compare', ['--limit', '1/1m']],
])('%s needs no more memory for callers with long names', async (command, args) => {
  write('long-paths.log', logOfLongPaths());
  const options = { nodeOptions: ['--max-old-space-size=32', '--single-threaded-gc', '--no-incremental-marking'] };
  const { code, stdout } = await rollgate([command, 'long-paths.log', '--by', 'path', ...args], options);
  expect(code).toBe(0);
  expect(stdout).toContain('45 requests of 45 callers');
});

test('a long name appears as its start and a hash, which no other caller can have', async () => {
  const long = `/${'😀'.repeat(500)}`;
  const hash = createHash('sha256').update(`${long}a`, 'utf16le').digest('base64url');
  const shown = `/${'😀'.repeat(79)}…#${hash}`;
  const paths = [`${long}a`, `${long}b`, shown, `${long}a`];
  write('long-names.log', paths.map((path) => JSON.stringify({ time: START_MS, path })).join('\n'));
  const { callers, worstHit } = await simulate(['long-names.log', '--limit', '1/1m', '--by', 'path']);
  expect({ callers, keys: worstHit.map(({ key }) => key) }).toEqual({ callers: 3, keys: [shown] });
});

test('names with different lone surrogates are different callers', async () => {
  const users = ['\\ud800', '\\ud801', '\\ud800', '\\ud800', '\\ud801'];
  write('halves.log', users.map((user) => `{"time":${START_MS},"user":"${user}"}`).join('\n'));
  const { callers, rejectedRequests } = await simulate(['halves.log', '--limit', '1/1m', '--by', 'user']);
  expect({ callers, rejectedRequests }).toEqual({ callers: 2, rejectedRequests: 3 });
});
