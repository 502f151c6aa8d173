import type { Page } from 'playwright-core';

/** Records how far the page's parts move while it loads, in shares of the screen. */
const OBSERVE_SHIFT = `
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shift += value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

/** Call it before {@link shiftOf}. */
export const observeShift = (page: Page): Promise<unknown> => page.addInitScript(OBSERVE_SHIFT);

/** How far the parts of the page have moved since its load began. */
export const shiftOf = (page: Page): Promise<number> =>
  page.evaluate('document.fonts.ready.then(() => window.shift)') as Promise<number>;
