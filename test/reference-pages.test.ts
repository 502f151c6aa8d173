import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { OPTION_NAMES } from '../packages/http/src/options/resolve-options.js';
import { WARNING_CODES } from '../packages/http/src/warnings/warnings.js';

const ROOT = join(__dirname, '..');

describe('options', () => {
  const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
  const quoted = (text: string) => Array.from(text.matchAll(/'(\w+)'/g), ([, name]) => name!);

  /** The options of each adapter beyond the common ones, from its source. */
  const ownOptions = readdirSync(join(ROOT, 'packages')).flatMap((name) => {
    const folder = `packages/${name}/src`;
    const sources = ['express', 'fastify', 'hono', 'koa', 'nestjs', 'node', 'web'].includes(name)
      ? readdirSync(join(ROOT, folder), { encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
      : [];
    return sources.flatMap((file) =>
      Array.from(read(`${folder}/${file}`).matchAll(/ownOptions: (\[[^\]]*\])/g), ([, list]) => quoted(list!)).flat(),
    );
  });
  /** Fastify reads these before it resolves the other options. */
  const OF_FASTIFY = ['global', 'groupId'];

  test('the page has one heading for each option of the adapters', () => {
    const headings = Array.from(read('docs/options.md').matchAll(/^### (\w+)$/gm), ([, name]) => name!);
    const known = new Set([...OPTION_NAMES, ...ownOptions, ...OF_FASTIFY]);
    expect(headings.sort()).toEqual([...known].sort());
  });

  test('the table of the page lists the options in the order of their headings', () => {
    const page = read('docs/options.md');
    const headings = Array.from(page.matchAll(/^### (\w+)$/gm), ([, name]) => name!);
    const rows = Array.from(page.matchAll(/^\| \[`(\w+)`\]\(#(\w+)\)/gm));
    expect(rows.map(([, name]) => name)).toEqual(headings);
    expect(rows.map(([, , anchor]) => anchor)).toEqual(headings.map((name) => name.toLowerCase()));
  });
});

describe('errors', () => {
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
});

describe('warnings', () => {
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
});

describe('headers', () => {
  type Fetch = (url: string) => Promise<Response>;
  type SetTimeout = (resolve: () => void, ms: number) => void;

  const page = readFileSync(join(__dirname, '../docs/headers.md'), 'utf8');
  const [, source] = /^## Retry in a client\n.*?^```ts\n(.*?)^```$/ms.exec(page)!;
  const { code } = transformSync(source!, { loader: 'ts' });
  /** Runs the client of the page with these globals. */
  const createClient = new Function('fetch', 'setTimeout', `${code}; return fetchPatiently;`) as (
    fetch: Fetch,
    setTimeout: SetTimeout,
  ) => Fetch;

  async function waitsFor(...responses: Response[]): Promise<{ last: Response; waitedMs: number[] }> {
    const waitedMs: number[] = [];
    const client = createClient(
      async () => responses.shift()!,
      (resolve, ms) => {
        waitedMs.push(ms);
        resolve();
      },
    );
    return { last: await client('http://localhost/'), waitedMs };
  }

  const rejected = (headers: Record<string, string>) => new Response('', { status: 429, headers });

  test('the client waits as long as each rejection states', async () => {
    const { last, waitedMs } = await waitsFor(
      rejected({ 'Retry-After': '23' }),
      rejected({ 'Retry-After': '1' }),
      new Response('found'),
    );
    expect([await last.text(), waitedMs]).toEqual(['found', [23_000, 1000]]);
  });

  test('the client returns a rejection that states no time', async () => {
    const { last, waitedMs } = await waitsFor(rejected({}));
    expect([last.status, waitedMs]).toEqual([429, []]);
  });
});
