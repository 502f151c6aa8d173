import { chromiumBinary } from '@rollgate/test-support';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Settings } from '../../src/shared/settings.js';
import { PlaygroundPage } from './playground-page.js';
import type { Server } from './server.js';

// With fewer processes, the browser takes a third less memory.
const ARGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  ...['--renderer-process-limit=1', '--no-zygote', '--in-process-gpu'],
];

let browser: Browser;
/** Opening a tab costs as much as the rest of a test, so tests share one unless they need their own. */
let shared: Page | undefined;
const contexts: BrowserContext[] = [];
const tabs: Page[] = [];
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: await chromiumBinary(), args: ARGS });
});
afterEach(async () => {
  await Promise.all([...contexts.splice(0), ...tabs.splice(0)].map((opened) => opened.close()));
});
afterAll(() => browser.close());

/** What a page is displayed on. */
type Media = Pick<BrowserContextOptions, 'reducedMotion' | 'forcedColors'>;
/** Pages animate smoothly only on request, because sixty frames per second cost more than everything else. */
const DEFAULT_MEDIA: Media = { reducedMotion: 'reduce', forcedColors: 'none' };
const VIEWPORT = { width: 1280, height: 900 };
const DEFAULT_OPTIONS: BrowserContextOptions = { viewport: VIEWPORT, ...DEFAULT_MEDIA };

/** Opens a separate profile, which is closed after the test. Errors in its pages fail a test that checks `errors`. */
export async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ ...DEFAULT_OPTIONS, ...options });
  contexts.push(context);
  return context;
}

/** Opens the page of a server and waits for its state: in the common tab, in another tab, or in a separate profile. */
export async function openPage(url: string, from: Media | BrowserContext | 'next' = {}): Promise<PlaygroundPage> {
  const page = new PlaygroundPage(await tabOf(from));
  await page.page.goto(url);
  await page.connected();
  return page;
}

/**
 * The common tab with these settings and without requests. It stays as it is when it shows the server already, because
 * loading the page costs more than most tests do with it.
 */
export async function showPage(server: Server, settings: Partial<Settings>): Promise<PlaygroundPage> {
  await server.begin(settings);
  const tab = await commonTab();
  if (new URL(tab.url()).origin !== server.url) return openPage(server.url);
  const page = new PlaygroundPage(await tabOf({}));
  await page.startOver(await server.settings());
  return page;
}

async function tabOf(from: Media | BrowserContext | 'next'): Promise<Page> {
  if (from === 'next') return nextTab();
  if ('newPage' in from) return from.newPage();
  const tab = await commonTab();
  tab.removeAllListeners('pageerror').removeAllListeners('request');
  await tab.setViewportSize(VIEWPORT);
  await tab.emulateMedia({ ...DEFAULT_MEDIA, ...from });
  return tab;
}

async function commonTab(): Promise<Page> {
  shared ??= await (await browser.newContext(DEFAULT_OPTIONS)).newPage();
  return shared;
}

/** Closes all pages. */
export async function leavePage(): Promise<void> {
  await (await commonTab()).goto('about:blank');
}

/** Opens another tab next to the common one, which is closed after the test. */
export async function nextTab(): Promise<Page> {
  const tab = await (await commonTab()).context().newPage();
  tabs.push(tab);
  return tab;
}
