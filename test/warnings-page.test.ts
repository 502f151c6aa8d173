import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WARNING_CODES } from '../packages/http/src/warnings/warnings';

const [, page = ''] = readFileSync(join(__dirname, '../docs/errors.md'), 'utf8').split(/^## Warnings$/m);

/** The entry of each code on the page. */
const sections = new Map(
  page
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section.slice(section.indexOf('\n')).trim()]),
);

test.each(WARNING_CODES)('%s has an entry, which states how to silence it', (code) => {
  expect(sections.get(code)?.replaceAll('\n', ' ')).toContain(`\`silence: ['${code}']\``);
});

test.each(['ROLLGATE_STORE_FAILED', 'ROLLGATE_STORE_RECOVERED'])('%s of the core has an entry', (code) => {
  const source = readFileSync(join(__dirname, '../packages/core/src/failure/store-health.ts'), 'utf8');
  expect(source).toContain(`'${code}'`);
  expect(sections.get(code)).toMatch(/rollgate:store:(failure|recovery)/);
});

test('the page documents no unknown code', () => {
  const known = [
    ...WARNING_CODES,
    'ROLLGATE_DIALECT_FAILED',
    'ROLLGATE_EPOCH_WINDOW',
    'ROLLGATE_KEYS_EVICTED',
    'ROLLGATE_LIMITS_FAILED',
    'ROLLGATE_ON_LEASE_LOST_FAILED',
    'ROLLGATE_ON_WAIT_FAILED',
    'ROLLGATE_POSTGRES_SWEEP_FAILED',
    'ROLLGATE_SHORT_INTERVAL',
    'ROLLGATE_REFUND_FAILED',
    'ROLLGATE_RELEASE_FAILED',
    'ROLLGATE_SETTLE_FAILED',
    'ROLLGATE_SQLITE_WITHOUT_WAL',
    'ROLLGATE_STORE_FAILED',
    'ROLLGATE_STORE_RECOVERED',
  ];
  expect([...sections.keys()].sort()).toEqual(known.sort());
});
