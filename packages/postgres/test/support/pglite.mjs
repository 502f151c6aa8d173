// Runs the checks of the conformance suite whose names match `which` on PGlite, which loads its database by a dynamic import that
// Jest cannot run. Then runs the faults, because a PGlite takes seconds to start. Prints the checks that fail, and the result of each fault.
import { PGlite } from '@electric-sql/pglite';
import { PostgresStore } from '@rollgate/postgres';
import { checks } from '@rollgate/store-conformance';
import { runFaults } from './pglite-faults.mjs';

const client = await PGlite.create();
await new PostgresStore({ client }).createTable();
const { which, ...options } = JSON.parse(process.argv[2]);
const all = checks((clock) => new PostgresStore({ client, clock, sweep: false }), options);
const failed = [];
let passed = 0;
for (const { name, leftOut, run } of all) {
  if (leftOut !== undefined || !new RegExp(which).test(name)) continue;
  await run().then(
    () => passed++,
    (error) => failed.push(`${name}: ${error.message}`),
  );
}
await client.exec('TRUNCATE rollgate');
const faults = await runFaults(client);
await client.close();
console.log(JSON.stringify({ passed, failed, faults }));
