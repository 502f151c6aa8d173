import type { Page } from 'playwright-core';
import type { ShownCounts } from '../../src/page/stacks.js';
import type { Attempt } from '../../src/shared/protocol.js';
import type { RowName, Settings } from '../../src/shared/settings.js';

/** How long the page may take until something is true. */
const TIMEOUT_MS = 100_000;

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

/** A tab, as a user sees it. */
export class PlaygroundPage {
  readonly errors: string[] = [];
  /** The addresses that it has requested. */
  readonly requested: string[] = [];
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
    page.on('request', (request) => this.requested.push(request.url()));
    page.on('pageerror', (error) => this.errors.push(String(error)));
  }

  /** Clears what the last test has left, and waits until the page shows that the server began with these settings. */
  async startOver(settings: Settings): Promise<void> {
    const shown = Object.entries(settings).map(
      ([name, value]) => `document.querySelector('#${name}').value === '${value}'`,
    );
    const isEmpty = `Object.values(JSON.parse(document.querySelector('#chart').dataset.drawn)).every(
      (row) => Object.values(row).every((count) => count === 0)
    ) && document.querySelector('#most-fixed').textContent === '0'`;
    await this.becomes('the page starts over', [...shown, isEmpty].join(' && '));
    await this.page.evaluate("document.querySelector('#traffic').textContent = ''");
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

  /** Waits until an expression is true. The page checks it itself, because each call from here costs it as much as a frame. */
  async becomes(what: string, expression: string): Promise<void> {
    const isTrue = await this.page.evaluate<boolean>(`(async () => {
      const endMs = performance.now() + ${TIMEOUT_MS};
      while (!(${expression})) {
        if (performance.now() > endMs) return false;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return true;
    })()`);
    if (!isTrue) throw new Error(`Expected within ${TIMEOUT_MS / 1000} s: ${what}`);
  }

  /** What the chart has drawn. */
  drawn(): Promise<Drawn> {
    return this.page.evaluate<Drawn>(DRAWN);
  }

  /** What the chart has drawn in each row. */
  rows(): Promise<Partial<Record<RowName, ShownCounts>>> {
    return this.page.evaluate('JSON.parse(document.querySelector("#chart").dataset.drawn)');
  }

  /** The texts of the brackets that a frame shows, such as "20 within 0.8 s". */
  brackets(): Promise<string[]> {
    return this.page.evaluate(`new Promise((resolve) => {
      const context = document.querySelector('#chart canvas').getContext('2d');
      const { clearRect, fillText } = context;
      let texts;
      context.clearRect = (x, y, ...size) => {
        if (x === 0 && y === 0) {
          if (texts !== undefined) {
            Object.assign(context, { clearRect, fillText });
            resolve(texts);
          }
          texts = [];
        }
        clearRect.call(context, x, y, ...size);
      };
      context.fillText = (text, ...at) => {
        if (/ within /.test(text)) texts?.push(text);
        fillText.call(context, text, ...at);
      };
    })`);
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

  showsBanner(isShown: boolean): Promise<void> {
    return this.becomes(
      `the banner is ${isShown ? 'shown' : 'hidden'}`,
      `document.querySelector('#banner').hidden !== ${isShown}`,
    );
  }

  /** Waits until the scenario of the last button is done. */
  done(word = 'Done'): Promise<void> {
    return this.shows('#traffic', new RegExp(`^${word}: `));
  }

  async text(selector: string): Promise<string> {
    return (await this.page.locator(selector).textContent()) ?? '';
  }

  shows(selector: string, text: string | RegExp): Promise<void> {
    const content = `(document.querySelector(${JSON.stringify(selector)})?.textContent ?? '').replace(/\\s+/g, ' ').trim()`;
    const expression = typeof text === 'string' ? `${content} === ${JSON.stringify(text)}` : `${text}.test(${content})`;
    return this.becomes(`${selector} shows ${text}`, expression).catch(async (error: Error) => {
      throw new Error(`${error.message}; it shows ${JSON.stringify(await this.text(selector))}`);
    });
  }
}
