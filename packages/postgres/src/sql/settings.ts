/**
 * Finds rows by the primary key only, whatever the planner expects. Statistics are missing in a new table and wrong in one whose
 * number of keys has changed. It would then read the whole table, collect addresses first, or compile.
 */
export const BY_PRIMARY_KEY = { jit: 'off', enable_seqscan: 'off', enable_bitmapscan: 'off' };

/**
 * A process that stops in the middle of a transaction holds its locks as long as its callers wait, within these bounds. Pauses
 * below a second are common.
 */
const [LEAST_IDLE_MS, MOST_IDLE_MS] = [1000, 5000];

/** Ends the limit on the duration of statements. It must not hold for the commit, whose wait for a standby it would end. */
export const NO_STATEMENT_LIMIT = 'SET LOCAL statement_timeout = DEFAULT';

/**
 * Returns the statements that begin a transaction which locks rows. The limit of `statement_timeout` holds for the locks of all
 * rows together, which `lock_timeout` does not offer.
 */
export function beginTexts(lockMs: number, synchronousCommit: boolean): string[] {
  const settings = {
    ...BY_PRIMARY_KEY,
    idle_in_transaction_session_timeout: Math.min(Math.max(LEAST_IDLE_MS, lockMs), MOST_IDLE_MS),
    ...(synchronousCommit ? {} : { synchronous_commit: 'off' }),
    statement_timeout: lockMs,
  };
  // The server's default may be another level.
  return ['BEGIN ISOLATION LEVEL READ COMMITTED', settingsText(settings)];
}

/** Changes settings until the transaction ends. One statement takes less time than one for each of them. */
export function settingsText(settings: Readonly<Record<string, string | number>>): string {
  const values = Object.entries(settings).map(([name, value]) => `set_config('${name}','${value}',true)`);
  return `SELECT ${values.join(',')}`;
}
