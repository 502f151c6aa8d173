import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { SqliteStore } from '@rollgate/sqlite';
import { until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { countWaits, PROBES, untilDecided } from '@rollgate/test-support/silent-writes';
import { libraries, newFile, openDatabase, removeDatabases } from './support/databases.js';

silenceOutages();
afterAll(removeDatabases);

const limiterOn = (database: ReturnType<typeof openDatabase>, limit: number, timeout = '30s') =>
  new RateLimiter({
    limits: rollingWindow({ limit, window: '1h' }),
    store: new SqliteStore({ database }),
    timeout: timeout as '30s',
    onStoreError: 'throw',
  });

/** A separate process that checks a key, and what it has printed. */
function startChecks(file: string, limit: number, checks: number): { child: ChildProcess; output: () => string } {
  const options = JSON.stringify({ file, limit, checks });
  const program = join(__dirname, 'support/checking-process.mjs');
  const child = spawn(process.execPath, [program, options], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout!.on('data', (chunk) => {
    output += chunk;
  });
  return { child, output: () => output };
}

const countAllowed = (output: string) => output.match(/allowed\n/g)?.length ?? 0;

test('processes on one file allow exactly the limit', async () => {
  const file = newFile();
  openDatabase(file);
  const processes = Array.from({ length: effort(3, 8) }, () => startChecks(file, 100, effort(60, 2000)));
  await Promise.all(processes.map(({ child }) => once(child, 'close')));
  const outputs = processes.map(({ output }) => output());
  expect(outputs.map((output) => output.endsWith('done\n'))).not.toContain(false);
  expect(countAllowed(outputs.join(''))).toBe(100);
});

test('no hit that was reported is lost when a process is killed', async () => {
  const file = newFile();
  const database = openDatabase(file);
  const { child, output } = startChecks(file, 100_000, 100_000);
  await until('hits are reported', async () => countAllowed(output()) > effort(100, 10_000));
  child.kill('SIGKILL');
  await once(child, 'close');
  const { remaining } = await limiterOn(database, 100_000).peek('ann');
  // The last transaction may have been committed, but not reported.
  expect(100_000 - remaining).toBeGreaterThanOrEqual(countAllowed(output()));
  expect(database.prepare('PRAGMA integrity_check').get()).toMatchObject({ integrity_check: 'ok' });
});

test('while another connection writes, the event loop continues, and the check follows', async () => {
  const file = newFile();
  const limiter = limiterOn(openDatabase(file), 10);
  await limiter.check('ann');
  const writer = openDatabase(file);
  writer.exec('BEGIN IMMEDIATE');
  let isDecided = false;
  const decided = limiter.check('ann').finally(() => {
    isDecided = true;
  });
  for (let timers = 0; timers < 5; timers++) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(isDecided).toBe(false);
  writer.exec('COMMIT');
  expect((await decided).remaining).toBe(8);
});

test('a check whose caller no longer waits is not recorded', async () => {
  const file = newFile();
  const database = openDatabase(file);
  const limiter = limiterOn(database, 10, '50ms');
  await limiter.check('ann');
  const writer = openDatabase(file);
  writer.exec('BEGIN IMMEDIATE');
  await expect(limiter.check('ann')).rejects.toThrow(/50 ms.*last error: database is locked/);
  writer.exec('COMMIT');
  const after = limiterOn(database, 10);
  await until('the limiter uses the store again', async () => (await after.peek('ann')).degraded === false);
  expect((await after.peek('ann')).remaining).toBe(9);
});

test('checks whose callers no longer wait start no transaction', async () => {
  const database = openDatabase(newFile());
  const clock = manualClock(Date.now());
  const limits = rollingWindow({ limit: 10, window: '1h' });
  const store = new SqliteStore({ database, clock });
  const [hasty, patient] = [1000, 5000].map(
    (timeout) => new RateLimiter({ limits, store, timeout, onStoreError: 'allow' }),
  );
  const exec = jest.spyOn(database, 'exec');
  const begun = () => exec.mock.calls.filter(([text]) => text.startsWith('BEGIN')).length;
  await patient!.check('ann');
  const before = begun();
  const abandoned = Array.from({ length: 300 }, () => hasty!.check('ann'));
  clock.advance(1000);
  await Promise.all(abandoned);
  await flushPromises();
  expect(begun()).toBe(before);
  expect((await patient!.peek('ann')).remaining).toBe(9);
});

test('while another connection writes, attempts do not sleep, and probes do not prolong them', async () => {
  const file = newFile();
  const database = openDatabase(file);
  const store = new SqliteStore({ database });
  expect(database.prepare('PRAGMA busy_timeout').get()).toMatchObject({ timeout: 0 });
  const limits = rollingWindow({ limit: 10, window: '1h' });
  const [hasty, patient] = ['30ms', '60ms'].map(
    (timeout) => new RateLimiter({ limits, store, timeout, onStoreError: 'allow' }),
  );
  await hasty!.check('ann');
  const writer = openDatabase(file);
  writer.exec('BEGIN IMMEDIATE');
  await hasty!.check('ann'); // It times out, so the next one sends a probe.
  const attempts = jest.spyOn(database, 'exec');
  await Promise.all([hasty!.check('ann'), patient!.check('ann')]);
  expect(attempts).toHaveBeenCalledWith('BEGIN IMMEDIATE');
  await until('the attempts have ended', async () => {
    attempts.mockClear();
    await new Promise((resolve) => setTimeout(resolve, 20));
    return attempts.mock.calls.length === 0;
  });
  writer.exec('COMMIT');
});

test('one check after each probe waits while another connection writes for long', async () => {
  const file = newFile();
  const clock = manualClock(Date.now());
  const store = new SqliteStore({ database: openDatabase(file), clock });
  const limits = rollingWindow({ limit: 1000, window: '1h' });
  const limiter = new RateLimiter({ limits, store, timeout: 1000, onStoreError: 'allow' });
  await limiter.check('ann');
  const writer = openDatabase(file);
  writer.exec('BEGIN IMMEDIATE');
  const waits = await countWaits(limiter, clock, 1000, flushPromises);
  expect(waits).toBeGreaterThan(0);
  expect(waits).toBeLessThanOrEqual(PROBES);
  writer.exec('COMMIT');
  await untilDecided(limiter, clock, flushPromises);
  expect(await Promise.all([limiter.check('ann'), limiter.check('bob')])).toMatchObject([
    { degraded: false },
    { degraded: false },
  ]);
});

test('a connection that keeps reading an old state blocks no check', async () => {
  const file = newFile();
  const limiter = limiterOn(openDatabase(file), 10);
  await limiter.check('ann');
  const reader = openDatabase(file);
  const count = () => reader.prepare('SELECT count(*) AS count FROM rollgate').get();
  reader.exec('BEGIN');
  expect(count()).toMatchObject({ count: 1 });
  await limiter.check('bob');
  expect(count()).toMatchObject({ count: 1 });
  reader.exec('COMMIT');
  expect(count()).toMatchObject({ count: 2 });
});

test('while the file cannot grow, checks fail, and then the quota is as before', async () => {
  const database = openDatabase();
  const limiter = limiterOn(database, 10);
  await limiter.check('ann');
  database.exec('PRAGMA max_page_count = 4');
  const key = (index: number) => `${index} ${'x'.repeat(500)}`;
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, (_, index) => limiter.check(key(index))));
  expect(outcomes.map(({ status }) => status)).toContain('rejected');
  database.exec('PRAGMA max_page_count = 1000000');
  expect((await limiter.check('ann')).remaining).toBe(8);
  expect((await limiter.check(key(39))).remaining).toBe(9);
});

test.each(Object.keys(libraries))('checks go on after somebody has dropped the table, with %s', async (library) => {
  const file = newFile();
  const limiter = limiterOn(openDatabase(file, library), 10);
  await limiter.check('ann');
  openDatabase(file, library).exec('DROP TABLE rollgate');
  await expect(limiter.check('ann')).rejects.toMatchObject({
    cause: { message: expect.stringContaining('no such table') },
  });
  expect((await limiter.check('ann')).remaining).toBe(9);
});

test('writes delete expired rows, and none that still counts', async () => {
  const database = openDatabase();
  const limiter = limiterOn(database, 1000);
  await limiter.check('ann');
  const insert = database.prepare('INSERT INTO rollgate (key, drop_at_ms, state) VALUES (?, 1, ?)');
  for (let index = 0; index < 100; index++) insert.run(`old ${index}`, new Uint8Array(8));
  for (let index = 0; index < 100; index++) await limiter.check('bob');
  expect(database.prepare('SELECT count(*) AS count FROM rollgate').get()).toMatchObject({ count: 2 });
  expect((await limiter.peek('bob')).remaining).toBe(900);
});

test('stores with different tables share no callers that wait', async () => {
  const database = openDatabase();
  const [first, same, other] = ['rollgate', 'Rollgate', 'other'].map((table) => new SqliteStore({ database, table }));
  expect(same!.backend).toBe(first!.backend);
  const limits = rollingWindow({ limit: 1, window: '1h' });
  const limiter = new RateLimiter({ limits, store: first! });
  expect((await limiter.check('ann')).allowed).toBe(true);
  const waiting = expect(limiter.wait('ann')).rejects.toMatchObject({ code: 'ERR_ROLLGATE_LIMITER_CLOSED' });
  await flushPromises();
  expect((await new RateLimiter({ limits, store: other! }).check('ann')).allowed).toBe(true);
  await limiter.close();
  await waiting;
});

test('a database without a write-ahead log causes a warning', async () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  new SqliteStore({ database: openDatabase() });
  expect(warn).not.toHaveBeenCalled();
  new SqliteStore({ database: openDatabase(newFile(), 'libsql', 'DELETE') });
  expect(warn).toHaveBeenCalledWith(expect.stringContaining("'delete'"), {
    type: 'RollgateWarning',
    code: 'ROLLGATE_SQLITE_WITHOUT_WAL',
  });
  warn.mockRestore();
});

test('a store starts while another process has locked a file without a write-ahead log', async () => {
  const file = newFile();
  const writer = openDatabase(file, 'libsql', 'DELETE');
  writer.exec('CREATE TABLE other (id INTEGER); BEGIN EXCLUSIVE');
  const database = libraries.libsql!(file);
  const decided = limiterOn(database, 1).check('ann');
  writer.exec('COMMIT');
  expect((await decided).allowed).toBe(true);
  database.close();
});

test.each([
  [{ database: {} }, 'Expected `database` to be a database of better-sqlite3 or a `DatabaseSync` of node:sqlite'],
  [{ table: 'a"; DROP' }, 'Expected `table` to be a name of letters, digits and underscores'],
  [{ clock: 5 }, 'Expected `clock`'],
  [{ tabel: 'x' }, 'Unknown option `tabel` for SqliteStore'],
])('the options %p are rejected', (options, message) => {
  expect(() => new SqliteStore({ database: openDatabase(), ...options } as never)).toThrow(message);
});

test.each(Object.keys(libraries))(
  'a limiter whose `store` is a database of %s says which store takes it',
  (library) => {
    const database = openDatabase(newFile(), library);
    expect(() => new RateLimiter({ limits: '5/1m', store: database as never })).toThrow(
      'Expected `store` to be a store of Rollgate, got a database of SQLite. Write `store: new SqliteStore({ database })`, with SqliteStore of @rollgate/sqlite',
    );
  },
);
