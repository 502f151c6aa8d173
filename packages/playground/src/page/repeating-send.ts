/** The time between two requests while the user holds a button, the chart or the space bar. */
const REPEAT_MS = 100;
/** The time before holding sends a second request. */
const FIRST_REPEAT_MS = 350;

/** Sends one request when it starts, and then more until it ends. */
export class RepeatingSend {
  readonly #send: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(send: () => void) {
    this.#send = send;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#repeat(FIRST_REPEAT_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #repeat(waitMs: number): void {
    this.#send();
    this.#timer = setTimeout(() => this.#repeat(REPEAT_MS), waitMs);
  }
}

/** Lets a button and the space bar send requests as long as they are held. */
export function sendWhilePressed(button: HTMLElement, send: RepeatingSend): void {
  button.addEventListener('pointerdown', ({ button: which }) => {
    if (which === 0) send.start();
  });
  for (const type of ['pointerup', 'pointercancel'] as const) window.addEventListener(type, () => send.end());
  // A click without a pointer comes from the keyboard or a screen reader.
  button.addEventListener('click', ({ detail }) => {
    if (detail !== 0) return;
    send.start();
    send.end();
  });
  document.addEventListener('keydown', (event) => {
    if (event.code !== 'Space' || isControl(event.target)) return;
    event.preventDefault(); // Otherwise the page scrolls.
    if (!event.repeat) send.start();
  });
  document.addEventListener('keyup', ({ code }) => {
    if (code === 'Space') send.end();
  });
  window.addEventListener('blur', () => send.end());
}

/** On a control, the space bar does what the control does. It does nothing for a slider. */
function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('button, input:not([type="range"]), select, summary') !== null;
}
