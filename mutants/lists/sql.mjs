// Defects in @rollgate/postgres, @rollgate/sqlite and the transactions that they share.

const postgres = (name) => `packages/postgres/test/${name}.test.ts`;
const sqlite = (name) => `packages/sqlite/test/${name}.test.ts`;

const of = (file, tests, mutants) =>
  mutants.map(([description, find, replace]) => ({ file: `packages/${file}.ts`, description, find, replace, tests }));

export const sql = [
  ...of(
    'core/src/custom/transaction-batch',
    [sqlite('sqlite-store')],
    [
      [
        'a check is recorded although its caller no longer waits',
        'if (call.operation.isAbandoned) throw abandonedError();',
        '',
      ],
      [
        'a probe prolongs the attempts of others',
        'filter(({ operation }) => operation.remainingMs !== Infinity)',
        'filter(() => true)',
      ],
    ],
  ),
  ...of(
    'postgres/src/store/with-connection',
    [postgres('faults')],
    [['a connection to a read-only server stays open', ' || (error as { code?: string }).code === READ_ONLY', '']],
  ),
  ...of(
    'postgres/src/store/with-connection',
    [postgres('silent-connections')],
    [
      ['a silent connection gets another statement', 'error instanceof SilenceError || ', ''],
      ['a connection returns to its client while a statement runs', 'await last.catch(() => {});', ''],
    ],
  ),
  ...of(
    'postgres/src/sql/settings',
    [postgres('locks')],
    [
      ['the limit on waits for locks holds for each row', 'statement_timeout: lockMs', 'lock_timeout: lockMs'],
      [
        'a process that freezes holds its locks',
        '[LEAST_IDLE_MS, MOST_IDLE_MS] = [1000, 5000]',
        '[LEAST_IDLE_MS, MOST_IDLE_MS] = [5000, 5000]',
      ],
    ],
  ),
  ...of(
    'postgres/src/store/batch-runner',
    [postgres('lone-checks')],
    [
      ['a lone check is lost if another process creates its key', 'results.some((rows) => rows.length > 0)', 'true'],
      ['a lone check takes a known state for the newest', 'version !== this.#cache.get(key)?.version', 'false'],
      [
        'a lone check reads the time before it locks',
        '[...texts, TIME_TEXT]',
        '[texts[0], TIME_TEXT, ...texts.slice(1)]',
      ],
      [
        'a rejection waits for the end of its transaction',
        'if (this.#settings.connector.endWaits) batch.succeed();',
        '// Nothing',
      ],
      ['a check of a caller that gave up reaches the server', 'if (batch.dropIfUnneeded()) return;', ''],
    ],
  ),
  ...of(
    'postgres/src/sql/settings',
    [postgres('postgres-store')],
    [['a batch reads the whole table after a change of its keys', "enable_seqscan: 'off', ", '']],
  ),
  ...of(
    'postgres/src/states/pages',
    [postgres('postgres-store')],
    [
      [
        'a page that has changed is not written',
        'if (before === undefined || !isEqual(',
        'if (before === undefined && !isEqual(',
      ],
      ['rows are so long that their old versions fill a page', 'PAGE_LENGTH = 32', 'PAGE_LENGTH = 128'],
    ],
  ),
  ...of(
    'sqlite/src/store/batch-runner',
    [sqlite('sqlite-store')],
    [
      ['a locked database fails the check', 'if (!isBusy(error) || batch.isAbandoned) throw error', 'throw error'],
      ['a check reads before it has the lock', "writes ? 'BEGIN IMMEDIATE' : 'BEGIN'", "'BEGIN'"],
      ['a failed transaction stays open', "this.#database.exec('ROLLBACK')", ''],
    ],
  ),
  ...of(
    'core/src/store/backend-of-table',
    [sqlite('sqlite-store')],
    [
      ['tables share callers that wait', 'getOrInsert(tables, table, ', "getOrInsert(tables, '', "],
      [
        'each store of a table has its own callers',
        'getOrInsert(tables, table, () => ({ client, table }))',
        '{ client, table }',
      ],
    ],
  ),
  ...of(
    'sqlite/src/database/state-table',
    [sqlite('sqlite-store')],
    [['expired rows stay', 'this.#deleteExpired.run(this.#cursor, last, nowMs)', '']],
  ),
];
