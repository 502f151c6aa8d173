import { subscribe } from 'node:diagnostics_channel';
import { PostgresStore } from '@rollgate/postgres';
import { verifyFault } from '@rollgate/store-conformance';

for (const name of ['failure', 'recovery']) subscribe(`rollgate:store:${name}`, () => {}); // Instead of warnings.

/** Runs the faults of a database within the process on PGlite, whose table is empty. Returns the result of each. */
export async function runFaults(client) {
  /** Lets each write fail that meets the condition, until the fault ends. */
  async function failWrites(reason, condition) {
    await client.exec(`
      CREATE FUNCTION fail_write() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE ${reason}; END $$;
      CREATE TRIGGER failing BEFORE INSERT OR UPDATE ON rollgate FOR EACH ROW ${condition} EXECUTE FUNCTION fail_write()`);
    return () => client.exec('DROP TRIGGER failing ON rollgate; DROP FUNCTION fail_write()');
  }

  /** Changes the state in the row whose key contains this text. */
  async function damage(name, change) {
    const { rows } = await client.query('SELECT key, state FROM rollgate WHERE key LIKE $1', [`%${name}%`]);
    if (rows.length !== 1) throw new Error(`Expected one row of ${name}, got ${rows.length}`);
    const [{ key, state }] = rows;
    await client.query('UPDATE rollgate SET state = $1, version = version + 1 WHERE key = $2', [change(state), key]);
    return () => {};
  }

  /** Lets a state count a billion hits. The state of a rolling window has its count of hits there. */
  function overcount(bytes) {
    const state = Buffer.from(bytes);
    const position = 4 * Float64Array.BYTES_PER_ELEMENT;
    if (state.readDoubleLE(position) !== 1) throw new Error(`Expected one hit, got ${state.readDoubleLE(position)}`);
    state.writeDoubleLE(1e9, position);
    return state;
  }

  const FAULTS = [
    {
      name: 'a read-only database',
      async start() {
        await client.exec('SET default_transaction_read_only = on');
        return () => client.exec('SET default_transaction_read_only = off');
      },
    },
    { name: 'a full disk', start: () => failWrites('disk_full', '') },
    {
      name: 'data that the database refuses for one key',
      affects: 'key',
      start: (name) => failWrites('numeric_value_out_of_range', `WHEN (NEW.key LIKE '%${name}%')`),
    },
    {
      name: 'a state that ends in the middle of a number',
      affects: 'none',
      start: (name) => damage(name, () => Buffer.from('damaged!!')),
    },
    { name: 'a state that counts more hits than it has', affects: 'none', start: (name) => damage(name, overcount) },
  ];

  const results = {};
  for (const fault of FAULTS) {
    const store = new PostgresStore({ client, sweep: false });
    results[fault.name] = await verifyFault({ PGlite: store }, fault).then(
      () => 'passed',
      (error) => `${error.message}: ${error.cause?.message}`,
    );
  }
  return results;
}
