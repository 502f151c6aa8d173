import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';

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
