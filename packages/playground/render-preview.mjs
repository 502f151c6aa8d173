// Renders src/page/preview.png, the picture that other sites show for a link to the playground, from the static build.
// Run it after `npm run build`. CHROMIUM is the browser's program.
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const { CHROMIUM = '/usr/bin/chromium' } = process.env;

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
// 1200 × 630 pixels, as other sites expect.
const page = await browser.newPage({ viewport: { width: 1333, height: 700 }, deviceScaleFactor: 0.9 });
await page.goto(new URL('dist/static/index.html', import.meta.url).href);
await page.locator('#most-fixed.above').waitFor();
await page.locator('#result', { hasText: 'because its counter restarted' }).waitFor();
await page.waitForTimeout(1500); // The marks move away from the line of the present.
await page.screenshot({ path: fileURLToPath(new URL('src/page/preview.png', import.meta.url)) });
await browser.close();
