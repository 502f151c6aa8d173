import { PostgresStore } from '@rollgate/postgres';
import { type Fault, verifyFault } from '@rollgate/store-conformance';
import { FaultyProxy, networkFaults, PostgresServer } from '@rollgate/test-support';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Pool } from 'pg';
import { clients, type OpenClient } from './support/clients.js';

silenceOutages();

let server: PostgresServer;
let proxy: FaultyProxy;
let admin: Pool;
const opened = new Map<string, OpenClient>();
beforeAll(async () => {
  server = await PostgresServer.start({ fsync: 'off' });
  proxy = await FaultyProxy.start(server.port);
  admin = new Pool({ connectionString: server.url, max: 1 });
  admin.on('error', () => {}); // Tests end the server.
  await new PostgresStore({ client: admin }).createTable();
  const url = server.url.replace(`:${server.port}`, `:${proxy.port}`);
  for (const [kind, open] of Object.entries(clients)) opened.set(kind, await open(url));
});
afterAll(async () => {
  await proxy.stop();
  await admin.end();
  await server.stop();
  await Promise.all([...opened.values()].map(({ close }) => close()));
});

/** Changes the state in each row whose key contains this text. */
async function damage(name: string, change: (state: Buffer) => Buffer): Promise<void> {
  const { rows } = await admin.query('SELECT key, state FROM rollgate WHERE key LIKE $1', [`%${name}%`]);
  expect(rows.length).toBeGreaterThanOrEqual(opened.size);
  for (const { key, state } of rows) {
    const text = 'UPDATE rollgate SET state = $1, version = version + 1 WHERE key = $2';
    await admin.query(text, [change(state), key]);
  }
}

/** Lets a state count a billion hits. The state of a rolling window has its count of hits there. */
function overcount(state: Buffer): Buffer {
  const position = 4 * Float64Array.BYTES_PER_ELEMENT;
  expect(state.readDoubleLE(position)).toBe(1);
  state.writeDoubleLE(1e9, position);
  return state;
}

const FAULTS: readonly Fault[] = [
  ...networkFaults(() => proxy),
  {
    name: 'a server that ends and starts again',
    async start() {
      await server.kill();
      return () => server.restart();
    },
  },
  {
    name: 'a read-only server',
    async start() {
      await admin.query('ALTER DATABASE postgres SET default_transaction_read_only = on');
      proxy.cut(); // New sessions have the setting.
      return async () => {
        await admin.query(
          'SET default_transaction_read_only = off; ALTER DATABASE postgres RESET default_transaction_read_only',
        );
        proxy.cut();
      };
    },
  },
  {
    name: 'a full disk',
    async start() {
      await admin.query(`
        CREATE FUNCTION fail_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE disk_full; END $$;
        CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON rollgate EXECUTE FUNCTION fail_full()`);
      return () => admin.query('DROP TRIGGER full_disk ON rollgate; DROP FUNCTION fail_full()');
    },
  },
  {
    name: 'data that the server refuses for one key',
    affects: 'key',
    async start(name) {
      await admin.query(`
        CREATE FUNCTION fail_key() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE numeric_value_out_of_range; END $$;
        CREATE TRIGGER bad_key BEFORE INSERT OR UPDATE ON rollgate FOR EACH ROW WHEN (NEW.key LIKE '%${name}%') EXECUTE FUNCTION fail_key()`);
      return () => admin.query('DROP TRIGGER bad_key ON rollgate; DROP FUNCTION fail_key()');
    },
  },
  {
    name: 'a state that ends in the middle of a number',
    affects: 'none',
    async start(name) {
      await damage(name, () => Buffer.from('damaged!!'));
      return () => {};
    },
  },
  {
    name: 'a state that counts more hits than it has',
    affects: 'none',
    async start(name) {
      await damage(name, overcount);
      return () => {};
    },
  },
];

test.each(FAULTS)('all clients survive $name', async (fault) => {
  const stores = [...opened].map(([kind, { client }]) => [kind, new PostgresStore({ client, sweep: false })]);
  await verifyFault(Object.fromEntries(stores), fault);
});
