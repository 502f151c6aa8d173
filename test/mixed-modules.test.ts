import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const CORE = join(__dirname, '../packages/core');

interface Outcome {
  refunded: number[];
  freedByClient: number;
  freedByWait: [string, number];
  refundedTwice: number;
  isStoreError: boolean;
}

let copy: string;
let outcomes: Record<string, Outcome>;

beforeAll(async () => {
  copy = mkdtempSync(join(CORE, 'node_modules/.copy-'));
  cpSync(join(CORE, 'dist'), join(copy, 'dist'), { recursive: true });
  cpSync(join(CORE, 'package.json'), join(copy, 'package.json'));
  const script = join(__dirname, 'support/mixed-modules.mjs');
  const { stdout } = await run(process.execPath, [script, join(copy, 'dist/index.js')]);
  outcomes = JSON.parse(stdout);
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const pairs = ['import', 'require'].flatMap((adapter) =>
  ['import', 'require', 'copy'].map((store) => `${adapter} with the store of ${store}`),
);

describe.each(pairs)('%s', (pair) => {
  test('a request that does not count is refunded', () =>
    expect(outcomes[pair]!.refunded).toEqual([200, 200, 200, 200]));

  test('a client that leaves a queue frees its start', () => expect(outcomes[pair]!.freedByClient).toBe(1));

  test('a caller of wait that leaves a queue frees its start', () =>
    expect(outcomes[pair]!.freedByWait).toEqual(['left', 1]));

  test('a decision is refunded once', () => expect(outcomes[pair]!.refundedTwice).toBe(1));
});

test('import and require have one StoreError', () => {
  expect(outcomes['import with the store of require']!.isStoreError).toBe(true);
  expect(outcomes['require with the store of import']!.isStoreError).toBe(true);
});
