import { useTab } from './support/browser.js';

const tab = useTab();

async function open(width = 1440, height = 900): Promise<void> {
  const { page, url } = tab();
  await page.setViewportSize({ width, height });
  await page.goto(url, { waitUntil: 'networkidle' });
}

test.each([
  [390, 844],
  [1440, 900],
  [2560, 1440],
])('the first screen at %i × %i has the promise, the button and the picture, but no sidebar', async (width, height) => {
  const { page } = tab();
  await open(width, height);
  for (const selector of ['h1', 'a:text-is("Get started")', '.live-playground.chart']) {
    const { y } = (await page.locator(selector).boundingBox())!;
    expect(y).toBeLessThan(height - 100);
  }
  expect(await page.locator('h1').textContent()).toContain('10 per minute means 10. Not 19.');
  expect(await page.locator('.VPSidebar').count()).toBe(0);
});

test('the chart plays by itself, and with reduced motion a picture stands for it', async () => {
  const { page } = tab();
  await open();
  const chart = page.locator('.live-playground.chart');
  expect(await chart.locator('img').isVisible()).toBe(true);
  expect(await chart.locator('iframe').isVisible()).toBe(false);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await open();
  const frame = page.frameLocator('.live-playground iframe');
  // At once, because the chart starts over.
  const counter = (row: string, most: RegExp) => page.locator(`.counter[data-row="${row}"] output`, { hasText: most });
  const both = frame.locator('#counters').filter({ has: counter('express', /^19$/) });
  await both.filter({ has: counter('rolling', /^10$/) }).waitFor();
  await page.emulateMedia({ reducedMotion: 'reduce' });
});

test('each framework has a tab with its own code, which the keyboard reaches', async () => {
  const { page } = tab();
  await open();
  const tabs = ['Express', 'Fastify', 'Hono', 'Koa', 'NestJS', 'Next.js', 'Bun', 'Deno', 'Workers', 'Plain code'];
  expect(await page.locator('.framework-tabs > label').allTextContents()).toEqual(tabs);
  await page.locator('.framework-tabs > input').first().focus();
  for (const name of tabs.slice(1)) {
    await page.keyboard.press('ArrowRight');
    await page.getByRole('radio', { name, checked: true }).waitFor();
    expect(await page.locator('.framework-tabs > .panel:visible').count()).toBe(1);
    expect(await page.locator('.framework-tabs > .panel:visible .language-ts').count()).toBe(1);
  }
  await page.evaluate('localStorage.clear()');
});

test('the choice of the package manager counts for all commands, also on other pages', async () => {
  const { page, url } = tab();
  await open();
  const panel = page.locator('.framework-tabs > .panel:visible');
  await panel.getByRole('button', { name: 'pnpm' }).click();
  await panel.locator('button.copy').first().click();
  await panel.locator('button.copied').first().waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('pnpm add @rollgate/express express');
  await page.goto(`${url}fastify`, { waitUntil: 'networkidle' });
  await page.locator('.install-command pre', { hasText: 'pnpm add @rollgate/fastify fastify' }).waitFor();
  await page.getByRole('button', { name: 'npm', exact: true }).click();
  await page.locator('.install-command pre', { hasText: 'npm install @rollgate/fastify fastify' }).waitFor();
});

/** A busy machine may take a while to start the scripts that have arrived. */
const hydrated = () => tab().page.waitForFunction(`document.querySelector('#app').__vue_app__ !== undefined`);

test('the choice of the framework counts for all tabs, also on other pages and after a reload', async () => {
  const { page, url } = tab();
  await open();
  await hydrated();
  await page.locator('.framework-tabs > label', { hasText: 'Fastify' }).click();
  await page.goto(`${url}common-tasks`, { waitUntil: 'networkidle' });
  await hydrated();
  const shown = page.locator('.vp-code-group .blocks > .active');
  await shown.first().waitFor();
  const groups = await shown.allTextContents();
  expect(groups.length).toBeGreaterThan(15);
  expect(groups.filter((text) => !text.includes('@rollgate/fastify'))).toEqual([]);
  await page.locator('.vp-code-group label', { hasText: 'Hono' }).first().click();
  await page.reload({ waitUntil: 'networkidle' });
  await hydrated();
  expect((await shown.allTextContents()).filter((text) => !text.includes('@rollgate/hono'))).toEqual([]);
  await page.evaluate('localStorage.clear()');
});

test('at most five proofs, each with a link to what shows it', async () => {
  await open();
  const proofs = tab().page.locator('.home .vp-doc > div > ul > li');
  expect(await proofs.count()).toBeLessThanOrEqual(5);
  for (const proof of await proofs.all()) expect(await proof.locator('a').count()).toBe(1);
});
