import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openPage } from '../support/browser.js';

const PAGE = pathToFileURL(join(__dirname, '../../dist/static/index.html')).href;

test('the static build decides in the browser, as its link says, without any server', async () => {
  const page = await openPage(`${PAGE}?limit=4&window=30s&algorithm=leaky`);
  await page.shows('output[for="limit"]', '4');
  await page.press('Burst');
  await page.shows('[data-row="rolling"] .count', '4 of 4');
  await page.press('Stop');
  await page.done('Stopped');
  expect(await page.text('#traffic')).toMatch(/^Stopped: 1 allowed, 4 rejected, 4 canceled\.$/);
  await page.press('Start over');
  await page.shows('#traffic', 'All requests are deleted, and every limit is full again.');
  await page.page.getByRole('combobox', { name: 'Algorithm' }).selectOption('Fixed window');
  await page.shows('#snippet', /limits: fixedWindow\(\{ limit: 4, window: '30s', \}\)/);
  await page.becomes('the link has the settings', `location.search === '?limit=4&window=30s&algorithm=fixed'`);
  expect(page.requested.every((url) => url.startsWith('file:'))).toBe(true);
  expect(page.errors).toEqual([]);
});

test('the page has a title, a description and a preview picture of the stated size', async () => {
  const { page } = await openPage(`${PAGE}?autoplay=off`);
  const content = (name: string) => page.locator(`meta[property="og:${name}"]`).getAttribute('content');
  expect(await page.title()).toContain('a fixed window allows twice its limit');
  expect(await page.locator('meta[name="description"]').getAttribute('content')).toContain('rolling window');
  const size = await page.evaluate(`(async () => {
    const image = new Image();
    image.src = document.querySelector('meta[property="og:image"]').content;
    await image.decode();
    return [String(image.naturalWidth), String(image.naturalHeight)];
  })()`);
  expect(size).toEqual([await content('image:width'), await content('image:height')]);
});
