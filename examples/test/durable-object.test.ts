import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HostProcess, startDurableObject } from '@rollgate/host-tests/start-hosts';

const EXAMPLES = join(__dirname, '..');

let folder: string;
let worker: HostProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollgate-durable-object-'));
});
afterEach(async () => {
  await worker?.stop();
  rmSync(folder, { recursive: true });
});

const send = (address: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${worker!.ports.worker}/`, { headers: { 'CF-Connecting-IP': address, ...headers } });

async function statuses(address: string, count: number): Promise<number[]> {
  const responses = await Promise.all(Array.from({ length: count }, () => send(address)));
  return responses.map(({ status }) => status).sort();
}

test.each(['durable-object.ts', 'durable-object-storage.ts'])('%s has one exact limit per client', async (file) => {
  worker = await startDurableObject(join(EXAMPLES, file), folder);
  const first = await send('203.0.113.1');
  expect(await first.text()).toBe('hello');
  expect(first.headers.get('x-ratelimit-remaining')).toBe('2');
  expect(await statuses('203.0.113.1', 10)).toEqual([200, 200, ...new Array(8).fill(429)]);
  const rejected = await send('203.0.113.1', { 'X-Forwarded-For': '203.0.113.9' });
  expect(rejected.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await rejected.json()).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
  expect(await statuses('203.0.113.2', 4)).toEqual([200, 200, 200, 429]);
});

test('durable-object-storage.ts keeps its counts when the platform restarts it', async () => {
  worker = await startDurableObject(join(EXAMPLES, 'durable-object-storage.ts'), folder);
  expect(await statuses('203.0.113.1', 2)).toEqual([200, 200]);
  await worker.stop();
  worker = await startDurableObject(join(EXAMPLES, 'durable-object-storage.ts'), folder);
  expect(await statuses('203.0.113.1', 2)).toEqual([200, 429]);
});
