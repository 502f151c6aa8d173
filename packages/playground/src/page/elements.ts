/** Returns the element of the page that the selector names. */
export function element<Kind extends HTMLElement>(selector: string): Kind {
  const found = document.querySelector<Kind>(selector);
  if (found === null) throw new Error(`Expected the page to have ${selector}`);
  return found;
}

/** Sets the text of an element. An equal text changes nothing, so that screen readers and the layout stay idle. */
export function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** Whether the page shows only its chart, in a frame of another page. */
export function isChartOnly(): boolean {
  return document.documentElement.dataset.view === 'chart';
}
