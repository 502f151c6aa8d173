import { useTab } from './support/browser.js';

const tab = useTab();

async function open(path: string, width = 1280): Promise<void> {
  const { page, url } = tab();
  await page.setViewportSize({ width, height: 900 });
  await page.goto(url + path, { waitUntil: 'networkidle' });
}

test('the sidebar leads to a page, which names its groups', async () => {
  const { page } = tab();
  await open('overview');
  for (const group of ['Start', 'Guides', 'Concepts', 'Stores', 'Operations', 'Reference', 'Playground']) {
    expect(await page.locator('.VPSidebar .level-0 > .item h2', { hasText: group }).count()).toBeGreaterThan(0);
  }
  expect(await page.locator('.VPSidebar .level-0:not(.collapsed) h2').allTextContents()).toEqual(['Start']);
  await page.locator('.VPSidebar').getByRole('button', { name: 'Concepts', expanded: false }).click();
  await page.locator('.VPSidebar a', { hasText: 'Response headers' }).click();
  await page.locator('h1', { hasText: 'Response headers' }).waitFor();
});

test('on a narrow screen, the menu leads to a page', async () => {
  const { page } = tab();
  await open('overview', 390);
  await page.locator('.VPLocalNav button.menu').click();
  await page.locator('.VPSidebar').getByRole('button', { name: 'Reference', expanded: false }).click();
  await page.locator('.VPSidebar a', { hasText: 'Options of the adapters' }).click();
  await page.locator('h1', { hasText: 'Options of the adapters' }).waitFor();
});

test('the search finds Retry-After', async () => {
  const { page } = tab();
  await open('');
  await page.locator('.VPNavBarSearch button').first().click();
  await page.locator('.search-input').fill('Retry-After');
  await page.locator('.results .result', { hasText: 'Response headers' }).first().click();
  await page.waitForURL(/\/headers/);
});

test('the page for unknown addresses offers the search, with the words of the address', async () => {
  const { page } = tab();
  await open('old/response-headers.html');
  await page.getByRole('button', { name: 'Search the documentation' }).click();
  await page.locator('.results .result', { hasText: 'Response headers' }).first().waitFor();
});

test('a button copies the code', async () => {
  const { page } = tab();
  await open('express');
  await page.locator('.language-sh').first().hover();
  await page.locator('.language-sh button.copy').first().click();
  await page.locator('.language-sh button.copied').first().waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain('npm install @rollgate/express express');
});

test('the switch changes the theme', async () => {
  const { page } = tab();
  await open('overview');
  const isDark = () => page.evaluate(`document.documentElement.classList.contains('dark')`);
  const before = await isDark();
  await page.locator('.VPNavBar .VPSwitchAppearance').first().click();
  expect(await isDark()).toBe(!before);
});

test('the embedded playground follows the switch of the theme', async () => {
  const { page } = tab();
  await open('playground');
  const scheme = () => page.evaluate(`getComputedStyle(document.querySelector('iframe')).colorScheme`);
  await page.evaluate(`document.documentElement.classList.remove('dark')`);
  expect(await scheme()).toBe('light');
  await page.evaluate(`document.documentElement.classList.add('dark')`);
  expect(await scheme()).toBe('dark');
});

test.each([1280, 390])('the embedded playground runs at %i pixels, without a second scroll bar', async (width) => {
  const { page, errors } = tab();
  await open('playground', width);
  const frame = page.frameLocator('.live-playground iframe');
  await frame.locator('#send').click();
  await frame.locator('.counter.own output', { hasText: /^[1-9]/ }).waitFor();
  const hidden = await frame.locator('html').evaluate((html) => html.scrollHeight - html.clientHeight);
  expect(hidden).toBeLessThanOrEqual(1);
  expect(errors).toEqual([]);
});

test('a link to the embedded playground has its settings, in both directions', async () => {
  const { page, url } = tab();
  await open('playground?limit=4&algorithm=token');
  const frame = page.frameLocator('.live-playground iframe');
  await frame.locator('#result', { hasText: 'The limit is 4 per' }).waitFor();
  await frame.locator('#limit').fill('7');
  await frame.locator('#limit').blur();
  await page.waitForURL(/limit=7/);
  await frame.getByText('Share').click();
  await frame.getByRole('button', { name: 'Copy link' }).click();
  await frame.getByRole('button', { name: 'Copied' }).waitFor();
  const link = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(link.slice(url.length)).toMatch(/^playground\?(?=.*limit=7)(?=.*algorithm=token)/);
});

test.each([
  [1280, 720],
  [390, 844],
])(
  'the counters and the first button of the embedded playground are on one screen at %i × %i',
  async (width, height) => {
    const { page } = tab();
    await page.setViewportSize({ width, height });
    await page.goto(`${tab().url}playground`, { waitUntil: 'networkidle' });
    const frame = page.frameLocator('.live-playground iframe');
    expect(await frame.locator('h1').isVisible()).toBe(false);
    for (const part of ['#counters', '#send']) {
      const box = (await frame.locator(part).boundingBox())!;
      expect(box.y + box.height).toBeLessThanOrEqual(height);
    }
  },
);

test('the space bar sends requests in the embedded playground, and does not scroll the page', async () => {
  const { page } = tab();
  await open('playground', 390);
  const frame = page.frameLocator('.live-playground iframe');
  await frame.locator('.counter.own').waitFor();
  await page.evaluate('document.activeElement.blur()');
  await page.keyboard.press('Space');
  await frame.locator('.counter.own output', { hasText: /^[1-9]/ }).waitFor();
  expect(await page.evaluate('scrollY')).toBe(0);
});

test('a page links to its source, and states its version and last change', async () => {
  const { page } = tab();
  await open('options');
  expect(await page.locator('.edit-link-button').getAttribute('href')).toMatch(/\/edit\/main\/docs\/options\.md$/);
  expect(await page.locator('.VPLastUpdated time').textContent()).toMatch(/\d{4}|\d\//);
  expect(await page.locator('.VPNavBarMenu').textContent()).toMatch(/(?:v|next \()\d+\.\d+\.\d+/);
});
