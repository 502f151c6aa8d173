// Renders src/page/preview.png, the picture that other sites show for a link to the playground, from the static build.
// Run it after `npm run build`. CHROMIUM is the browser's program.
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const { CHROMIUM = '/usr/bin/chromium' } = process.env;

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
// 1200 × 630 pixels, as other sites expect.
const page = await browser.newPage({ viewport: { width: 1200, height: 630 } });
await page.goto(new URL('dist/static/index.html', import.meta.url).href);
await page.getByRole('button', { name: 'Attack' }).click();
await page.locator('#counters output', { hasText: '20' }).waitFor();
await page.waitForTimeout(1000); // The chart moves on.
await page.evaluate('document.activeElement.blur()');
await page.screenshot({ path: fileURLToPath(new URL('src/page/preview.png', import.meta.url)) });
await browser.close();
