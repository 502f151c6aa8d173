/** The one element of the page that the selector names. */
export function element<Kind extends HTMLElement>(selector: string): Kind {
  const found = document.querySelector<Kind>(selector);
  if (found === null) throw new Error(`Expected the page to have ${selector}`);
  return found;
}

/** Says it, if it is not said already: screen readers and the layout are left alone otherwise. */
export function say(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** `10 s`, `0.3 s`. */
export function seconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`;
}
