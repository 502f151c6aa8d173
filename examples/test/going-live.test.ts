import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { start } from './support/example-server.js';

const ROLLGATE = join(__dirname, '../../packages/cli/dist/main.js');

/** How many requests each caller makes, all in one moment. */
const CALLERS = { '203.0.113.1': 15, '203.0.113.2': 8, '203.0.113.3': 3, '203.0.113.4': 1 };

const folder = mkdtempSync(join(tmpdir(), 'rollgate-going-live-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function rollgate(...args: string[]) {
  const { stdout } = await promisify(execFile)(process.execPath, [ROLLGATE, ...args, '--json'], { cwd: folder });
  return JSON.parse(stdout);
}

/** The same traffic against the server: returns the number of rejected requests per client. */
async function send(url: string): Promise<Record<string, number>> {
  const rejected: Record<string, number> = {};
  for (const [caller, count] of Object.entries(CALLERS)) {
    for (let turn = 0; turn < count; turn++) {
      const { status } = await fetch(url, { headers: { 'X-Forwarded-For': caller } });
      if (status !== 200) rejected[caller] = (rejected[caller] ?? 0) + 1;
    }
  }
  return rejected;
}

test('the dry run counts, and the enforced limit rejects, what the log predicts', async () => {
  const line = (caller: string) => `${caller} - - [01/Mar/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 17\n`;
  const log = Object.entries(CALLERS).map(([caller, count]) => line(caller).repeat(count));
  writeFileSync(join(folder, 'access.log'), log.join(''));

  const { windows } = await rollgate('suggest', 'access.log', '--window', '1m', '--reject', '20%');
  const { limit } = windows[0].forRequests;
  expect(limit).toBe(10);
  const simulated = await rollgate('simulate', 'access.log', '--limit', `${limit}/1m`);
  expect(simulated).toMatchObject({ requests: 27, rejectedRequests: 5, rejectedCallers: 1 });

  const trial = await start('going-live.ts', { LIMIT: String(limit) });
  expect(trial.printed).toContain('dry run');
  expect(await send(trial.url)).toEqual({});
  const observed = await (await fetch(`${trial.url}/trial`)).json();
  const worstHit = simulated.worstHit.map((hit: { key: string; rejectedRequests: number }) => [
    hit.key,
    hit.rejectedRequests,
  ]);
  expect(observed).toEqual({ enforced: false, requests: 27, rejected: 5, callers: 1, rejectedFromOthers: 0, worstHit });

  const inForce = await start('going-live.ts', { LIMIT: String(limit), ENFORCE: 'yes' });
  expect(inForce.printed).toContain('in force');
  expect(await send(inForce.url)).toEqual(Object.fromEntries(worstHit));
  expect(await (await fetch(`${inForce.url}/trial`)).json()).toEqual({ ...(observed as object), enforced: true });
});
