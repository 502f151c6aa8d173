const NAMES = [
  'text',
  'quiet',
  'grid',
  'card',
  'allowed',
  'beyond',
  'rejected',
  'band',
  'future',
  'good-text',
] as const;

/** The colors of the style sheet, for a canvas. */
export type Theme = Readonly<Record<(typeof NAMES)[number], string>>;

function readTheme(): Theme {
  const probe = document.createElement('i');
  probe.hidden = true;
  document.body.append(probe);
  // The style sheet may name system colors, which only a computed style resolves.
  const colors = NAMES.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color] as const;
  });
  probe.remove();
  return Object.fromEntries(colors) as Theme;
}

/** Calls `use` with the colors now, and again when the system changes them. */
export function followTheme(use: (theme: Theme) => void): void {
  use(readTheme());
  for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)', '(prefers-contrast: more)']) {
    matchMedia(query).addEventListener('change', () => use(readTheme()));
  }
}
