import { chromiumBinary } from '@rollgate/test-support';
import { type Browser, chromium } from 'playwright-core';

/** A real browser, which asks nobody for anything by itself. */
export async function startChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: await chromiumBinary(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
}
