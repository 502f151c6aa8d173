import { chromiumBinary, until } from '@rollgate/test-support';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Attempt } from '../../src/shared/wire.js';

const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];

let browser: Browser;
/** Opening a tab costs as much as all else that a test does: those that need none of their own have one in common. */
let shared: Page | undefined;
const contexts: BrowserContext[] = [];
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: await chromiumBinary(), args: ARGS });
});
afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
});
afterAll(() => browser.close());

/** Its pages glide only where a test asks for it: sixty pictures a second cost more than all else. */
const USUAL: BrowserContextOptions = { viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' };

/** A profile of its own, closed after the test. Whatever goes wrong in its pages fails the test that looks at `errors`. */
export async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ ...USUAL, ...options });
  contexts.push(context);
  return context;
}

/** The page of a server, when it knows what the server knows: in the common tab, unless told otherwise. */
export async function openPage(
  url: string,
  from: BrowserContextOptions | BrowserContext | 'common' = 'common',
): Promise<PlaygroundPage> {
  const page = new PlaygroundPage(await tabOf(from));
  await page.page.goto(url);
  await page.connected();
  return page;
}

async function tabOf(from: BrowserContextOptions | BrowserContext | 'common'): Promise<Page> {
  if (from !== 'common') return ('newPage' in from ? from : await openContext(from)).newPage();
  shared ??= await (await browser.newContext(USUAL)).newPage();
  return shared.removeAllListeners('pageerror');
}

/** What the chart says it has drawn. */
export interface Drawn {
  readonly letThrough: number;
  readonly refused: number;
  readonly fixedLetThrough: number;
  readonly fixedRefused: number;
}

/** What the chart has to draw of these attempts. */
export function expected(attempts: readonly Attempt[]): Drawn {
  const letThrough = attempts.filter(({ allowed }) => allowed).length;
  const fixedLetThrough = attempts.filter(({ fixedAllowed }) => fixedAllowed).length;
  return {
    ...{ letThrough, refused: attempts.length - letThrough },
    ...{ fixedLetThrough, fixedRefused: attempts.length - fixedLetThrough },
  };
}

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
    return until('the page is connected', async () => {
      return (await this.page.locator('body').getAttribute('data-connected')) === 'true';
    });
  }

  async drawn(): Promise<Drawn> {
    const number = async (name: string) => Number(await this.chart.getAttribute(`data-${name}`));
    return {
      ...{ letThrough: await number('let-through'), refused: await number('refused') },
      ...{ fixedLetThrough: await number('fixed-let-through'), fixedRefused: await number('fixed-refused') },
    };
  }

  /** Waits until the chart shows just so many marks. */
  async draws(marks: Drawn): Promise<void> {
    let last: Drawn | undefined;
    await until(`the chart shows ${JSON.stringify(marks)}`, async () => {
      last = await this.drawn();
      return JSON.stringify(last) === JSON.stringify(marks);
    }).catch((error: Error) => {
      throw new Error(`${error.message}; it shows ${JSON.stringify(last)}`);
    });
  }

  /** Waits until what the last button began is done. */
  done(word = 'Done'): Promise<void> {
    return until(`the button is ${word}`, async () => {
      return (await this.text('#traffic')).startsWith(`${word}: `);
    });
  }

  async text(selector: string): Promise<string> {
    return (await this.page.locator(selector).textContent()) ?? '';
  }

  says(selector: string, text: string | RegExp): Promise<void> {
    return until(`${selector} says ${text}`, async () => {
      const said = await this.text(selector);
      return typeof text === 'string' ? said === text : text.test(said);
    });
  }
}
