import { SqliteStore } from '@rollgate/sqlite';
import { type Fault, verifyFault } from '@rollgate/store-conformance';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { libraries, newFile, openDatabase, removeDatabases } from './support/databases.js';

silenceOutages();
afterAll(removeDatabases);

describe.each(Object.keys(libraries))('SqliteStore on %s survives', (library) => {
  const file = newFile();
  const database = openDatabase(file, library);
  const other = openDatabase(file, library);
  const run = (sql: string) => () => void database.exec(sql);

  /** Writes a state into the row whose key contains this text, as another program does. */
  function overwrite(name: string, state: Buffer): () => void {
    other.prepare('UPDATE rollgate SET state = ? WHERE instr(key, ?) > 0').run(state, name);
    return () => {};
  }

  /** Lets the state in that row count a billion hits. The state of a rolling window has its count of hits there. */
  function overcount(name: string): () => void {
    const row = other.prepare('SELECT state FROM rollgate WHERE instr(key, ?) > 0').get(name) as { state: Uint8Array };
    const state = Buffer.from(row.state);
    const position = 4 * Float64Array.BYTES_PER_ELEMENT;
    expect(state.readDoubleLE(position)).toBe(1);
    state.writeDoubleLE(1e9, position);
    return overwrite(name, state);
  }

  const FAULTS: readonly Fault[] = [
    {
      name: 'a read-only database',
      start() {
        database.exec('PRAGMA query_only = ON');
        return run('PRAGMA query_only = OFF');
      },
    },
    {
      name: 'a full disk',
      start() {
        other.exec(`CREATE TRIGGER full_update BEFORE UPDATE ON rollgate BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END;
          CREATE TRIGGER full_insert BEFORE INSERT ON rollgate BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`);
        return () => void other.exec('DROP TRIGGER full_update; DROP TRIGGER full_insert');
      },
    },
    {
      name: 'another process that holds the lock',
      start() {
        other.exec('BEGIN IMMEDIATE');
        return () => void other.exec('COMMIT');
      },
    },
    {
      name: 'data that the database refuses for one key',
      affects: 'key',
      start(name) {
        other.exec(
          `CREATE TRIGGER bad_update BEFORE UPDATE ON rollgate WHEN instr(NEW.key, '${name}') > 0 BEGIN SELECT RAISE(ABORT, 'refused'); END`,
        );
        return () => void other.exec('DROP TRIGGER bad_update');
      },
    },
    {
      name: 'a state that ends in the middle of a number',
      affects: 'none',
      start: (name) => overwrite(name, Buffer.from('damaged!!')),
    },
    { name: 'a state that counts more hits than it has', affects: 'none', start: overcount },
  ];

  test.each(FAULTS)('$name', (fault) => verifyFault({ [library]: new SqliteStore({ database }) }, fault));
});
