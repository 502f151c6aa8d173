import { until } from '@rollgate/test-support';
import { openPage, showPage } from '../support/browser.js';
import { COLOR_VISIONS, contrast, difference } from '../support/colors.js';
import type { Server } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';

let server: Server;
beforeAll(async () => {
  server = await sharedServer();
});
beforeEach(() => server.begin({}));

const NAMES = [
  ...['ground', 'card', 'text', 'quiet', 'control', 'allowed', 'beyond', 'beyond-text', 'good-text', 'rejected'],
  ...['band', 'future', 'accent', 'on-accent'],
] as const;

async function colors(colorScheme: 'light' | 'dark'): Promise<Record<(typeof NAMES)[number], string>> {
  const { page } = await showPage(server, {});
  await page.emulateMedia({ colorScheme });
  const values = await page.locator('html').evaluate((html, names) => {
    const style = html.ownerDocument.defaultView.getComputedStyle(html);
    return names.map((name) => style.getPropertyValue(`--${name}`).trim()) as string[];
  }, NAMES);
  return Object.fromEntries(NAMES.map((name, index) => [name, values[index]!])) as Awaited<ReturnType<typeof colors>>;
}

describe.each(['light', 'dark'] as const)('in %s', (scheme) => {
  let color: Awaited<ReturnType<typeof colors>>;
  beforeAll(async () => {
    color = await colors(scheme);
  });

  test('text stands out by 4.5 to 1 at least, marks and the edges of controls by 3 to 1', () => {
    const behindMarks = ['card', 'band', 'future'] as const;
    const text = [
      ...(['text', 'quiet'] as const).flatMap((name) =>
        ['ground' as const, ...behindMarks].map((on) => [name, on] as const),
      ),
      ...behindMarks.map((on) => ['beyond-text', on] as const),
      ['good-text', 'card'] as const,
      ['on-accent', 'accent'] as const,
    ];
    const marks = [
      ...(['allowed', 'beyond', 'rejected'] as const).flatMap((name) => behindMarks.map((on) => [name, on] as const)),
      ...(['control', 'accent'] as const).map((name) => [name, 'card'] as const),
    ];
    const tooWeak = (pairs: typeof text | typeof marks, least: number) =>
      pairs
        .map(([name, on]) => [name, on, contrast(color[name], color[on])] as const)
        .filter(([, , ratio]) => ratio < least);
    expect(tooWeak(text, 4.5)).toEqual([]);
    expect(tooWeak(marks, 3)).toEqual([]);
  });

  test.each(Object.entries(COLOR_VISIONS))(
    'people with %s vision can distinguish the marks, which also differ in shape',
    (_, vision) => {
      expect(difference(color.allowed, color.beyond, vision)).toBeGreaterThan(30);
      for (const other of [color.allowed, color.beyond]) {
        expect(difference(other, color.rejected, vision)).toBeGreaterThan(15);
      }
    },
  );
});

test('the page follows the system from light to dark, the chart too', async () => {
  const { page, chart } = await showPage(server, {});
  await page.emulateMedia({ colorScheme: 'light' });
  const corner = () =>
    page.locator('#chart canvas').evaluate((canvas) => {
      const style = canvas.ownerDocument.defaultView.getComputedStyle(canvas.ownerDocument.body);
      const { data } = canvas.getContext('2d').getImageData(Math.floor(canvas.width * 0.6), 3, 1, 1);
      return { ground: style.backgroundColor as string, band: [...data].slice(0, 3).join() };
    });
  await until('the chart is drawn', async () => (await corner()).band === '220,235,245');
  await page.emulateMedia({ colorScheme: 'dark' });
  await until('the chart is dark', async () => (await corner()).band === '30,58,77');
  expect((await corner()).ground).toBe('rgb(20, 24, 27)');
  expect(await chart.locator('canvas').count()).toBe(1);
  await page.emulateMedia({ colorScheme: 'light' });
});

test('everything is reached by the keyboard, in the order of the page', async () => {
  const { page } = await openPage(server.url);
  const reached: string[] = [];
  for (let tab = 0; tab < 18; tab++) {
    await page.keyboard.press('Tab');
    const focused = page.locator(':focus');
    reached.push(
      (await focused.getAttribute('data-scenario')) ??
        (await focused.getAttribute('data-scene')) ??
        (await focused.getAttribute('id')) ??
        '?',
    );
    expect(
      await focused.evaluate((element) => element.ownerDocument.defaultView.getComputedStyle(element).outlineStyle),
    ).toBe('solid');
  }
  // "Stop" has nothing to stop.
  expect(reached).toEqual([
    ...['fill', 'boundary', 'roll'],
    ...['look-back', 'all-rows', 'boundary', 'send', 'first', 'burst', 'steady', 'hammer', 'reset'],
    ...['copy-link', 'algorithm', 'limit', 'windowMs', 'minDifferenceMs', 'copy'],
  ]);
});

test('the keyboard presses buttons and moves sliders, and stopping keeps the focus near', async () => {
  const tab = await showPage(server, {});
  const { page } = tab;
  await page.getByRole('button', { name: 'Send a request' }).focus();
  await page.keyboard.press('Enter');
  await until('one is sent', async () => (await server.attempts()).length === 1);
  await page.keyboard.press('Space');
  await until('two are sent', async () => (await server.attempts()).length === 2);
  await page.getByRole('slider', { name: 'Limit' }).focus();
  await page.keyboard.press('ArrowRight');
  await until('the limit is 11', async () => (await server.records()).state.settings.limit === 11);
  expect(await page.getByRole('slider', { name: 'Limit' }).getAttribute('aria-valuetext')).toBe('11');
  await page.getByRole('button', { name: 'Hammer' }).press('Enter');
  await page.getByRole('button', { name: 'Stop' }).press('Enter');
  await tab.done('Stopped');
  expect(await page.locator(':focus').textContent()).toBe('Hammer');
});

test('a screen reader hears what the chart shows', async () => {
  const tab = await openPage(server.url);
  const { page } = tab;
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
    'A fixed window allows twice its limit. A rolling window does not.',
  );
  for (const name of ['Send requests', 'The limit', 'Your code', 'The last response', 'Live chart']) {
    expect(await page.getByRole('region', { name }).count()).toBe(1);
  }
  for (const name of ['Limit', 'Window', 'Minimum difference', 'Look back']) {
    expect(await page.getByRole('slider', { name, exact: true }).count()).toBe(1);
  }
  expect(await page.locator('html').getAttribute('lang')).toBe('en');

  // Around the boundary of the fixed window, it would allow more.
  await server.skip(10_000 - ((await server.now()) % 10_000));
  await tab.press('Burst');
  await tab.done();
  const words =
    'Rolling window: 10 allowed in the last 10 s. Fixed window: 10 allowed in the last 10 s. Limit 10. In all 10 allowed, 5 rejected.';
  const spoken = page.locator('[aria-live="polite"]');
  await until('the page announces it', async () => ((await spoken.textContent()) ?? '').startsWith(words));
  await page.getByRole('img', { name: words }).waitFor();
  expect(await page.getByRole('status').first().textContent()).toMatch(
    /The rolling window allowed 10 of 15 requests, .+\s+Done: 10 allowed, 5 rejected\./,
  );
});

test('the live region does not change all the time', async () => {
  const tab = await openPage(server.url);
  const spoken = tab.page.locator('[aria-live="polite"]');
  const moments = await spoken.evaluateHandle((element) => {
    const { MutationObserver, performance } = element.ownerDocument.defaultView;
    const changedMs: number[] = [];
    new MutationObserver(() => changedMs.push(performance.now())).observe(element, { childList: true });
    return changedMs;
  });
  const heard = async () => (await moments.jsonValue()) as number[];
  for (const times of [1, 2]) {
    await server.hit();
    await until(`it has spoken ${times} times`, async () => (await heard()).length >= times);
  }
  const [first, second] = await heard();
  expect(second! - first!).toBeGreaterThan(2900);
});

test('a page with reduced motion is drawn twice a second', async () => {
  const drawn = async (reducedMotion: 'reduce' | 'no-preference') => {
    const { page } = await openPage(`${server.url}?autoplay=off`, { reducedMotion });
    const times = (await page.locator('#chart canvas').evaluate((canvas) => {
      const { clearRect } = canvas.getContext('2d');
      const { performance } = canvas.ownerDocument.defaultView;
      const times: number[] = [];
      return new Promise((resolve) => {
        canvas.getContext('2d').clearRect = function (...box: number[]) {
          clearRect.apply(this, box);
          if (box[0] !== 0 || box[1] !== 0) return; // The place of a text.
          if (times.push(performance.now()) === 5) resolve(times);
        };
      });
    })) as number[];
    await page.emulateMedia({ reducedMotion: 'reduce' });
    return times.slice(2).map((time, index) => time - times[index + 1]!);
  };
  // A busy machine draws later, never sooner.
  expect(Math.min(...(await drawn('reduce')))).toBeGreaterThan(450);
  expect(Math.min(...(await drawn('no-preference')))).toBeLessThan(450);
});
