import { SqliteStore } from '@rollgate/sqlite';
import { checks } from '@rollgate/store-conformance';
import { effort, seed } from '@rollgate/test-support/effort';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { libraries, newFile, openDatabase, removeDatabases } from './support/databases.js';

silenceOutages();
afterAll(removeDatabases);

describe.each(Object.keys(libraries))('SqliteStore on %s', (library) => {
  const file = newFile();
  // Two stores of one test are two connections, as in two processes.
  const connections = [openDatabase(file, library), openDatabase(file, library)];
  let stores = 0;
  const all = checks((clock) => new SqliteStore({ database: connections[stores++ % 2]!, clock }), {
    shared: true,
    runs: effort(2, 300),
    longRun: effort(100, 10_000),
    seed,
  });
  for (const { name, leftOut, run } of all) if (leftOut === undefined) test(name, run);
});
