import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, RateLimiter, type Store } from '@rollgate/core';
import { describeStore } from '@rollgate/store-conformance';
import { transformSync } from 'esbuild';

/** A row of the table `limits`. */
interface Row {
  key: string;
  numbers: number[];
}

/** The database's time, by which the store decides without a clock of its own. */
let micros = 0;

const rows = new Map<string, Row>();

/** What each statement of the page does, by its first words. A new statement fails here: also run it on PostgreSQL. */
const STATEMENTS: Record<string, (...values: never[]) => readonly object[]> = {
  'select pg_advisory_xact_lock': () => [],
  'select floor(1e6 *': () => [{ micros }],
  'select key, numbers from limits': (keys: string[]) => keys.flatMap((key) => rows.get(key) ?? []),
  'delete from limits': (key: string) => {
    rows.delete(key);
    return [];
  },
  'insert into limits': (key: string, numbers: number[]) => {
    rows.set(key, { key, numbers: [...numbers] });
    return [];
  },
};

async function execute([text]: TemplateStringsArray, ...values: unknown[]): Promise<readonly object[]> {
  const [, run] = Object.entries(STATEMENTS).find(([words]) => text!.startsWith(words))!;
  return run(...(values as never[]));
}

/** The transactions run one after the other, as the locks of the page make them do. */
let last: Promise<unknown> = Promise.resolve();
const sql = {
  begin(transaction: (tx: typeof execute) => Promise<void>): Promise<void> {
    const ended = last.then(() => transaction(execute));
    last = ended;
    return ended;
  },
};

const page = readFileSync(join(__dirname, '../../../docs/extending.md'), 'utf8');
const [, source] = /^```ts\n(\/\/ src\/postgres-store\.ts\n.*?)^```$/ms.exec(page)!;
const program = { exports: {} as { createPostgresStore(client: typeof sql, clock?: Clock): Store } };
new Function('require', 'module', transformSync(source!, { loader: 'ts', format: 'cjs' }).code)(require, program);
const { createPostgresStore } = program.exports;

describeStore('the store for PostgreSQL', (clock) => createPostgresStore(sql, clock), {
  runs: 1,
  longRun: 100,
  seed: 1,
  shared: true,
});

test('without a clock, the store decides by the time of the database', async () => {
  const limiter = new RateLimiter({ limits: '1/1m', store: createPostgresStore(sql) });
  micros = 1.7e15;
  await limiter.check('ann');
  micros += 59_000_000;
  expect((await limiter.check('ann')).retryAfterMs).toBe(1000);
  micros += 1_000_000;
  expect((await limiter.check('ann')).allowed).toBe(true);
});
