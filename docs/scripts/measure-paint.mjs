// Measures when the largest part of a page appears (LCP), in Chromium: node docs/scripts/measure-paint.mjs [page ...] after a build
// of the site. `CPU=4` slows the processor of the page down four times, as Lighthouse does for phones. Each load has an empty cache.
// On a busy machine, read the second figure: the CPU time that the page's thread takes until then, which needs no quiet.
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { serve } from 'vitepress';

const LOADS = 5;
const CATEGORIES = ['loading', 'toplevel', 'blink.user_timing'];
const { CHROMIUM = '/usr/bin/chromium', CPU = '1', PORT = '4173' } = process.env;
const pages = process.argv.slice(2);
if (pages.length === 0) pages.push('', 'common-tasks', 'playground');

/** Loads a page in a context of its own, and returns what Chromium recorded. */
async function traceOf(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await session.send('Emulation.setCPUThrottlingRate', { rate: Number(CPU) });
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: CATEGORIES },
  });
  await page.goto(url, { waitUntil: 'networkidle' });
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await complete;
  await context.close();
  return events;
}

/** The time and the CPU time of the page's thread from the navigation until the last candidate for the LCP, in milliseconds. */
function measure(events, url) {
  const start = events.find(({ name, args }) => name === 'navigationStart' && args.data?.documentLoaderURL === url);
  const isOfPage = ({ name, args }) => name === 'largestContentfulPaint::Candidate' && args.frame === start.args.frame;
  const end = events.filter(isOfPage).at(-1);
  const tasks = events.filter(
    ({ name, ph, pid, tid, ts }) =>
      ph === 'X' && /RunTask$/.test(name) && pid === start.pid && tid === start.tid && ts >= start.ts && ts < end.ts,
  );
  return [(end.ts - start.ts) / 1000, tasks.reduce((sum, { tdur = 0 }) => sum + tdur, 0) / 1000];
}

const median = (values) => Math.round([...values].sort((one, other) => one - other)[Math.floor(values.length / 2)]);

await serve({ root: fileURLToPath(new URL('..', import.meta.url)), base: '/rollgate/', port: Number(PORT) });
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
console.log(`CPU ${CPU} times slower, load of this machine ${loadavg()[0].toFixed(1)}, medians of ${LOADS} loads`);
for (const name of pages) {
  const url = `http://localhost:${PORT}/rollgate/${name}`;
  const loads = [];
  for (let load = 0; load < LOADS; load++) loads.push(measure(await traceOf(browser, url), url));
  const [wall, cpu] = [0, 1].map((index) => median(loads.map((each) => each[index])));
  console.log(`/${name}: LCP after ${wall} ms, of which the page's thread works ${cpu} ms`);
}
await browser.close();
process.exit();
