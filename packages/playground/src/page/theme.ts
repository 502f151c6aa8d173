/** The colours of the style sheet, for the canvas. */
export interface Theme {
  readonly text: string;
  readonly quiet: string;
  readonly grid: string;
  readonly letThrough: string;
  readonly refused: string;
  readonly refusedText: string;
  readonly band: string;
  readonly fixedBand: string;
  readonly font: string;
}

function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    text: colour('text'),
    quiet: colour('quiet'),
    grid: colour('grid'),
    letThrough: colour('let-through'),
    refused: colour('refused'),
    refusedText: colour('refused-text'),
    band: colour('band'),
    fixedBand: colour('fixed-band'),
    font: getComputedStyle(document.body).fontFamily,
  };
}

/** Calls `use` with the colours now, and again when the system changes between light and dark. */
export function followTheme(use: (theme: Theme) => void): void {
  use(readTheme());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => use(readTheme()));
}
