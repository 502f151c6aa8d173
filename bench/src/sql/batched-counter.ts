import type { Pool } from 'pg';
import type { StoredSubject } from '../subjects.js';

const TABLE = 'CREATE TABLE IF NOT EXISTS counter (key text PRIMARY KEY, count int NOT NULL) WITH (fillfactor = 50)';

/** The least that a limiter on PostgreSQL can do: one upsert for all waiting checks, which adds to a counter of each key. */
export async function createBatchedCounter(pool: Pool): Promise<StoredSubject> {
  await pool.query(TABLE);
  let waiting: { readonly key: string; readonly resolve: (count: number) => void }[] = [];
  let isRunning = false;
  const run = async () => {
    isRunning = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const counts = new Map<string, number>();
      for (const { key } of batch) counts.set(key, (counts.get(key) ?? 0) + 1);
      const rows = [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
      const values = rows.map(([key, count]) => `('${key}',${count})`).join(',');
      const { rows: results } = await pool.query<{ key: string; count: number }>(
        `INSERT INTO counter VALUES ${values} ON CONFLICT (key) DO UPDATE SET count = counter.count + excluded.count RETURNING key, count`,
      );
      const totals = new Map(results.map(({ key, count }) => [key, count]));
      for (const { key, resolve } of batch) resolve(totals.get(key)!);
    }
    isRunning = false;
  };
  const check = (key: string) =>
    new Promise<number>((resolve) => {
      waiting.push({ key, resolve });
      if (!isRunning) setImmediate(() => isRunning || run());
    });
  return { check, isRejection: () => false };
}
