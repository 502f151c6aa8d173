import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PostgresStore } from '@rollgate/postgres';
import { type AlgorithmName, checks, vectors } from '@rollgate/store-conformance';
import { PostgresServer } from '@rollgate/test-support';
import { effort, seed } from '@rollgate/test-support/effort';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { clients, type OpenClient } from './support/clients.js';

silenceOutages();

/** Enough for a first look. Each run takes several transactions. */
const amount = { runs: effort(1, 200), longRun: effort(30, 5000), seed };

const algorithmNames = Object.keys(vectors) as AlgorithmName[];

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start({ fsync: 'off' });
});
afterAll(() => server.stop());

/** What a client can change: bytes of keys and states, transactions, and the rows of a list. */
const OF_CLIENTS = 'vectors|characters|concurrent refunds|^lists keys of|same data decide';

/** What the store decides does not depend on the client, so `npm test` runs only some algorithms and checks on all but one. */
const algorithmsWith: Record<keyof typeof clients | 'PGlite', readonly AlgorithmName[]> = {
  'a Pool of pg': algorithmNames,
  'Postgres.js': effort(['rollingWindow'], algorithmNames),
  PGlite: effort(['fixedWindow'], algorithmNames),
};

describe.each(Object.keys(clients) as (keyof typeof clients)[])('PostgresStore on %s', (kind) => {
  let opened: OpenClient;
  beforeAll(async () => {
    opened = await clients[kind](server.url);
    await new PostgresStore({ client: opened.client }).createTable();
  });
  afterAll(() => opened.close());

  // The clock of the suite runs back by days, so rows must not expire by it.
  const all = checks((clock) => new PostgresStore({ client: opened.client, clock, sweep: false }), {
    shared: true,
    algorithms: algorithmsWith[kind],
    ...amount,
  });
  const which = new RegExp(kind === 'a Pool of pg' ? '' : effort(OF_CLIENTS, ''));
  for (const { name, leftOut, run } of all) if (leftOut === undefined && which.test(name)) test(name, run);
});

test('PostgresStore on PGlite passes the suite, and survives what goes wrong in its data', async () => {
  const program = join(__dirname, 'support/pglite.mjs');
  const options = { shared: true, algorithms: algorithmsWith.PGlite, ...amount, which: effort(OF_CLIENTS, '') };
  // Optimizing the WebAssembly takes longer than a few checks.
  const flags = effort(['--liftoff-only'], []);
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, JSON.stringify(options)]);
  const { passed, failed, faults } = JSON.parse(stdout);
  expect(failed).toEqual([]);
  expect(passed).toBeGreaterThan(effort(4, 90));
  expect(faults).toEqual({
    'a read-only database': 'passed',
    'a full disk': 'passed',
    'data that the database refuses for one key': 'passed',
    'a state that ends in the middle of a number': 'passed',
    'a state that counts more hits than it has': 'passed',
  });
});
