import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');
const [page = ''] = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8').split(/^## Warnings$/m);

const sources = ['core', 'http', 'fetch', 'postgres', 'redis', 'sqlite', 'express', 'fastify'].flatMap((name) =>
  readdirSync(join(ROOT, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.generated)\.ts$/.test(file))
    .map((file) => [`${name}/src/${file}`, readFileSync(join(ROOT, 'packages', name, 'src', file), 'utf8')] as const),
);

const CODE = /'(ERR_ROLLGATE_\w+|RATE_LIMIT_EXCEEDED)'/g;
const codesIn = (text: string, pattern = CODE) => [...text.matchAll(pattern)].map(([, code]) => code!);

/** Their errors become the cause of a `StoreError`, which has a code, are those of `fetch` itself, or appear in a warning only. */
const WITHOUT_CODE = [
  'core/src/create-store/transaction-queue.ts',
  'fetch/src/fetch/copy-for-settle.ts',
  'fetch/src/fetch/settle-cost.ts',
  'fetch/src/calls/unsent-body.ts',
  'postgres/src/store/explain-error.ts',
  'postgres/src/store/with-connection.ts',
  'redis/src/clients/glide-redelivery.ts',
  'redis/src/script/script-numbers.ts',
  'redis/src/script/script-reply.ts',
];

test('the page has each code of the sources, and no other', () => {
  const thrown = new Set(
    sources.filter(([file]) => file !== 'core/src/validation/error-codes.ts').flatMap(([, text]) => codesIn(text)),
  );
  expect(codesIn(page, /^### (\w+)$/gm).sort()).toEqual([...thrown].sort());
});

test('the type `ErrorCode` has each code', () => {
  const [, declared] = sources.find(([file]) => file === 'core/src/validation/error-codes.ts')!;
  const codes = [...new Set([...codesIn(declared), 'RATE_LIMIT_EXCEEDED'])];
  expect(codes.sort()).toEqual(codesIn(page, /^### (\w+)$/gm).sort());
});

test('every error that Rollgate makes has a code', () => {
  const bare = sources.flatMap(([file, text]) => {
    const made = [...text.matchAll(/(.{0,60}?)\bnew (?:Type|Range|DOM)?(?:Error|Exception)\(/gs)];
    return made.filter(([, before]) => !/withCode\(\s*'\w+',\s*$/.test(before!)).map(() => file);
  });
  // Both return `withCode(…, error)` one line later.
  expect(bare.filter((file) => !WITHOUT_CODE.includes(file))).toEqual([
    'core/src/validation/validate.ts',
    'core/src/validation/validate.ts',
  ]);
});
