import { chromiumBinary } from '@rollgate/test-support';
import { type Browser, chromium } from 'playwright-core';

/** Starts a browser that sends no background requests. */
export async function startChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: await chromiumBinary(),
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
      ...['--renderer-process-limit=1', '--no-zygote', '--in-process-gpu'], // Fewer processes need less memory.
    ],
  });
}
