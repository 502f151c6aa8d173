import { setText } from './elements.js';

/** How long a button confirms that it has copied. */
const CONFIRMATION_MS = 2000;

/** Lets a button copy a text. Without permission, it shows the text, so that the user can copy it. */
export function copyOnClick(button: HTMLElement, textOf: () => string): void {
  const label = button.textContent ?? '';
  button.addEventListener('click', () => {
    const text = textOf();
    void navigator.clipboard.writeText(text).then(
      () => setText(button, 'Copied'),
      () => prompt('Copy this text:', text),
    );
    setTimeout(() => setText(button, label), CONFIRMATION_MS);
  });
}

/** The address of the page, or of the page that embeds it, which has the same query. */
export function pageAddress(): string {
  try {
    return parent.location.href;
  } catch {
    return location.href; // A page of another site embeds this one.
  }
}
