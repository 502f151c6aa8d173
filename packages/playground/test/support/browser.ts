import { setTimeout as delay } from 'node:timers/promises';
import { chromiumBinary, until } from '@rollgate/test-support';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Shown } from '../../src/page/stacks.js';
import type { Attempt } from '../../src/shared/protocol.js';
import type { Algorithm } from '../../src/shared/settings.js';

// With fewer processes, the browser takes a third less memory.
const ARGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  ...['--renderer-process-limit=1', '--no-zygote', '--in-process-gpu'],
];

let browser: Browser;
/** Opening a tab costs as much as all else that a test does: those that need none of their own have one in common. */
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

/** Pages animate smoothly only on request, because sixty frames per second cost more than everything else. */
const USUAL: BrowserContextOptions = { viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' };

/** A profile of its own, closed after the test. Whatever goes wrong in its pages fails the test that looks at `errors`. */
export async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ ...USUAL, ...options });
  contexts.push(context);
  return context;
}

/** Opens the page of a server and waits for its state: in the shared tab, in another tab, or with a separate profile. */
export async function openPage(
  url: string,
  from: BrowserContextOptions | BrowserContext | 'common' | 'next' = 'common',
): Promise<PlaygroundPage> {
  const page = new PlaygroundPage(await tabOf(from));
  await page.page.goto(url);
  await page.connected();
  return page;
}

async function tabOf(from: BrowserContextOptions | BrowserContext | 'common' | 'next'): Promise<Page> {
  if (from === 'common') return (await commonTab()).removeAllListeners('pageerror');
  if (from === 'next') return nextTab();
  return ('newPage' in from ? from : await openContext(from)).newPage();
}

async function commonTab(): Promise<Page> {
  shared ??= await (await browser.newContext(USUAL)).newPage();
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

/** What the chart has drawn, by its own record. Allowed requests include those beyond the limit. */
export interface Drawn {
  readonly allowed: number;
  readonly rejected: number;
  readonly fixedAllowed: number;
  readonly fixedRejected: number;
}

/** What the chart has to draw of these attempts. */
export function expected(attempts: readonly Attempt[]): Drawn {
  const allowed = attempts.filter(({ allowed }) => allowed).length;
  const fixedAllowed = attempts.filter(({ delays }) => delays.fixed !== null).length;
  return {
    ...{ allowed, rejected: attempts.length - allowed },
    ...{ fixedAllowed, fixedRejected: attempts.length - fixedAllowed },
  };
}

/** Runs in the page. Returns the chart's record of what it has drawn, in the rows of the real limit and of the fixed window. */
const DRAWN = `(() => {
  const drawn = JSON.parse(document.querySelector('#chart').dataset.drawn ?? '{}');
  const real = drawn[document.querySelector('#algorithm').value];
  const { fixed } = drawn;
  return real && {
    allowed: real.allowed + real.beyond,
    rejected: real.rejected,
    fixedAllowed: fixed.allowed + fixed.beyond,
    fixedRejected: fixed.rejected,
  };
})()`;

/** One tab, as a person sees it. */
export class PlaygroundPage {
  readonly errors: string[] = [];
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.errors.push(String(error)));
  }

  get chart() {
    return this.page.locator('#chart');
  }

  press(button: string): Promise<void> {
    return this.page.getByRole('button', { name: button, exact: true }).click();
  }

  connected(): Promise<void> {
    return this.becomes('the page is connected', "document.body.dataset.connected === 'true'");
  }

  /** Waits until an expression is true in the page. */
  async becomes(what: string, expression: string): Promise<void> {
    await until(what, async () => {
      const isTrue = await this.page.evaluate<boolean>(expression);
      if (!isTrue) await delay(40); // Checking costs the browser more than waiting.
      return isTrue;
    });
  }

  /** What the chart has drawn. */
  drawn(): Promise<Drawn> {
    return this.page.evaluate<Drawn>(DRAWN);
  }

  /** What the chart has drawn in each row. */
  rows(): Promise<Partial<Record<Algorithm, Shown>>> {
    return this.page.evaluate('JSON.parse(document.querySelector("#chart").dataset.drawn)');
  }

  /** Waits until the chart shows just so many marks. */
  async draws(marks: Drawn): Promise<void> {
    const text = JSON.stringify(marks);
    await this.becomes(`the chart shows ${text}`, `JSON.stringify(${DRAWN}) === ${JSON.stringify(text)}`).catch(
      async (error: Error) => {
        throw new Error(`${error.message}; it shows ${JSON.stringify(await this.drawn())}`);
      },
    );
  }

  /** Waits until what the last button began is done. */
  done(word = 'Done'): Promise<void> {
    return this.shows('#traffic', new RegExp(`^${word}: `));
  }

  async text(selector: string): Promise<string> {
    return (await this.page.locator(selector).textContent()) ?? '';
  }

  shows(selector: string, text: string | RegExp): Promise<void> {
    const content = `(document.querySelector(${JSON.stringify(selector)})?.textContent ?? '').replace(/\\s+/g, ' ').trim()`;
    const expression = typeof text === 'string' ? `${content} === ${JSON.stringify(text)}` : `${text}.test(${content})`;
    return this.becomes(`${selector} shows ${text}`, expression);
  }
}
