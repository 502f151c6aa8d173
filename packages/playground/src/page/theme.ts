/** The colors of the style sheet, for the canvas. */
export interface Theme {
  readonly text: string;
  readonly quiet: string;
  readonly grid: string;
  readonly allowed: string;
  readonly rejected: string;
  readonly rejectedText: string;
  readonly band: string;
  readonly fixedBand: string;
  readonly font: string;
}

function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    text: color('text'),
    quiet: color('quiet'),
    grid: color('grid'),
    allowed: color('allowed'),
    rejected: color('rejected'),
    rejectedText: color('rejected-text'),
    band: color('band'),
    fixedBand: color('fixed-band'),
    font: getComputedStyle(document.body).fontFamily,
  };
}

/** Calls `use` with the colors now, and again when the system changes between light and dark. */
export function followTheme(use: (theme: Theme) => void): void {
  use(readTheme());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => use(readTheme()));
}
