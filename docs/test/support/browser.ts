import { chromiumBinary } from '@rollgate/test-support';
import { type Browser, chromium, type Page } from 'playwright-core';
import { serveSite } from './site.js';

const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];

/** A tab on the built site, with what its console has reported. */
export interface Tab {
  readonly page: Page;
  readonly url: string;
  readonly errors: string[];
}

/** Opens one browser for all tests of a file, and gives each test the same tab. `serve` serves the site. */
export function useTab(serve = serveSite): () => Tab {
  let browser: Browser;
  let tab: Tab;
  let close: () => void;
  beforeAll(async () => {
    const { url, server } = await serve();
    close = () => server.close();
    browser = await chromium.launch({ executablePath: await chromiumBinary(), args: ARGS });
    const context = await browser.newContext({
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on(
      'response',
      (response) => response.status() >= 400 && errors.push(`${response.status()} ${response.url()}`),
    );
    tab = { page, url, errors };
  });
  beforeEach(() => {
    tab.errors.length = 0;
  });
  afterAll(async () => {
    await browser.close();
    close();
  });
  return () => tab;
}
