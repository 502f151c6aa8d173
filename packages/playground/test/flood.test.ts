import { Agent, request } from 'node:http';
import { expected, openPage, type PlaygroundPage } from './support/browser.js';
import { Server } from './support/server.js';

jest.setTimeout(120_000);

const REQUESTS = 10_000;
const AT_ONCE = 20;
/** What the page may take for a frame of which sixty come in a second; measured are two. */
const MOST_MS = 12;

let server: Server;
beforeAll(async () => {
  server = await Server.start();
});
afterAll(() => server.end());

function flood(count: number): Promise<unknown> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let left = count;
  const sendAll = async () => {
    while (left-- > 0) {
      await new Promise((resolve, reject) => {
        request(`${server.url}/hit`, { method: 'POST', agent }, (response) => response.resume().on('end', resolve))
          .on('error', reject)
          .end();
      });
    }
  };
  return Promise.all(Array.from({ length: AT_ONCE }, sendAll)).finally(() => agent.destroy());
}

/** How long frames are apart, in milliseconds, over two seconds; the shortest first. */
function frames(page: PlaygroundPage): Promise<number[]> {
  return page.chart.evaluate((chart) => {
    const { performance, requestAnimationFrame } = chart.ownerDocument.defaultView;
    return new Promise<number[]>((resolve) => {
      const moments: number[] = [performance.now()];
      const next = () => {
        moments.push(performance.now());
        if (moments.at(-1)! - moments[0]! < 2000) requestAnimationFrame(next);
        else
          resolve(
            moments
              .slice(1)
              .map((moment, index) => moment - moments[index]!)
              .sort((a, b) => a - b),
          );
      };
      requestAnimationFrame(next);
    });
  });
}

test('10,000 requests do not make the page slow', async () => {
  await server.begin({ limit: 50, windowMs: 60_000 });
  const page = await openPage(server.url);
  const before = await frames(page);
  await flood(REQUESTS);
  const attempts = await server.attempts();
  expect(attempts).toHaveLength(REQUESTS);
  await page.draws(expected(attempts));
  const after = await frames(page);
  const ownMs = Number(await page.chart.getAttribute('data-frame-ms'));
  const median = (sorted: readonly number[]) => sorted[Math.floor(sorted.length / 2)]!;
  if (process.env.SHOW_FIGURES)
    console.log({ before: median(before), after: median(after), worst: after.at(-1), ownMs });
  expect(median(after)).toBeLessThan(median(before) * 1.5 + 2);
  expect(ownMs).toBeGreaterThan(0);
  expect(ownMs).toBeLessThan(MOST_MS);
  expect(page.errors).toEqual([]);
});
