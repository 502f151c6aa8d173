import type { Effort } from './effort.js';
import { versionOf } from './machine.js';
import { CLIENT_CORE } from './redis/check-workers.js';
import { type BenchDatabase, withFile, withPostgres } from './sql/databases.js';
import { type MeasuredSql, type SqlFigures, toSqlRows } from './sql/rows.js';
import type { SqlResult, SqlTask } from './sql/sql-worker.js';
import { type Backend, SQL_SUBJECT_NAMES, type SqlSubjectName } from './sql/subjects.js';
import { createWorkloads, type SqlWorkload } from './sql/workloads.js';
import { inTurn } from './statistics.js';
import { type Report, whole } from './table.js';
import { canPin, type NamedWorker, startEach } from './worker.js';

type SqlWorker = NamedWorker<SqlSubjectName, SqlTask, SqlResult>;

/** Measures checks of limiters that keep their state in a private PostgreSQL, or in a file of SQLite. */
export function measureSql(backend: Backend, { rounds, checks }: Effort['sql']): Promise<Report<SqlSubjectName>> {
  const withDatabase = backend === 'postgres' ? withPostgres : withFile;
  const workloads = createWorkloads(checks);
  return withDatabase(async (database) => {
    const measured = workloads.map((workload): MeasuredSql => ({ workload, rounds: new Map() }));
    const most = Math.max(...workloads.map(({ processes }) => processes));
    const names = SQL_SUBJECT_NAMES.flatMap((name) => new Array<SqlSubjectName>(most).fill(name));
    await using workers = await startEach<SqlSubjectName, SqlTask, SqlResult>(names, 'sql/sql-worker.ts', {
      args: [backend, database.address],
      core: CLIENT_CORE,
    });
    for (let round = -1; round < rounds; round++) {
      for (const { workload, rounds: results } of measured) {
        for (const name of inTurn(SQL_SUBJECT_NAMES, round + 1)) {
          const figures = await measureOne(database, workers, name, workload);
          if (round >= 0) results.set(name, [...(results.get(name) ?? []), figures]); // The first round warms up.
        }
      }
    }
    return { headers: sqlHeaders(backend), rows: toSqlRows(measured), method: describeMethod(database, rounds) };
  });
}

async function measureOne(
  database: BenchDatabase,
  workers: readonly SqlWorker[],
  name: SqlSubjectName,
  { processes, inFlight, keyCount, checks: all, settings, filled, isRejected }: SqlWorkload,
): Promise<SqlFigures> {
  const used = workers.filter((one) => one.name === name).slice(0, processes);
  const checks = all[name];
  await database.clear();
  await used[0]!.worker.run({ settings, keyCount, checks: filled, inFlight: 64 });
  const before = await database.read();
  const task = { settings, keyCount, checks: checks / processes, inFlight };
  const results = await Promise.all(used.map(({ worker }) => worker.run(task)));
  const after = await database.read();
  const rejected = results.reduce((sum, result) => sum + result.rejected, 0);
  if (rejected !== (isRejected ? checks : 0)) {
    throw new Error(
      `Expected ${name} to ${isRejected ? 'reject' : 'allow'} ${checks} checks, got ${rejected} rejections`,
    );
  }
  const perCheck = (figure: keyof NonNullable<typeof after>) =>
    after === undefined || before === undefined ? null : (after[figure] - before[figure]) / checks;
  return {
    perSecond: checks / Math.max(...results.map(({ seconds }) => seconds)),
    clientMicros: results.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0) / processes,
    serverMicros: perCheck('cpuMicros'),
    walBytes: perCheck('walBytes'),
    medianMs: results[0]!.medianMs,
    // The checks of a server's client never block its event loop for long.
    pauseMs: after === undefined ? Math.max(...results.map(({ pauseMs }) => pauseMs)) : null,
  };
}

function sqlHeaders(backend: Backend): Record<SqlSubjectName, string> {
  return {
    rollgate: `rollgate ${versionOf(`@rollgate/${backend}`)}`,
    'rate-limiter-flexible': `rate-limiter-flexible ${versionOf('rate-limiter-flexible')}`,
  };
}

function describeMethod({ about }: BenchDatabase, rounds: number): string[] {
  return [
    "In parentheses: Rollgate's figure, divided by this one.",
    '',
    `- ${about}. The subjects take turns. Medians of ${whole(rounds)} rounds after a warm-up, each on an empty table. The ratio is the median of the ratios of each round. Eight processes have 8 checks in flight each${canPin ? '. All clients share one core' : '. NOT pinned to cores'}.`,
    '- rate-limiter-flexible counts in fixed windows. Rollgate keeps a log of all hits, whose length is the number of checks of a key. With one key and 8 processes, the window is 200 ms.',
    '- **Server CPU**: user and system time of all processes of the server. **Client CPU**: the same of the client process.',
    '- **Longest pause**: the longest time for which the event loop did nothing else. It includes the time that other processes had the core.',
  ];
}
