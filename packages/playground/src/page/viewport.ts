import { type Settings, WINDOWS_SHOWN } from '../shared/settings.js';
import type { View } from './scene.js';

/** Charts narrower than this show less time, so that the marks of an attack stay apart. */
const NARROW_WIDTH = 600;
/** Without a movement for this long, the chart follows the time again. */
const FOLLOW_AFTER_MS = 4000;

/** How many windows the chart shows of the past and of the future. */
export function windowsShown(width: number): { readonly past: number; readonly future: number } {
  return width < NARROW_WIDTH ? { past: 1.2, future: 0.5 } : { past: WINDOWS_SHOWN - 0.8, future: 0.65 };
}

/** The part of time that the chart shows. It stands still while the user looks at the past. */
export class Viewport {
  /** When the chart was stopped. */
  #stillMs: number | undefined;
  /** Which moment the user looks at: its distance from the place of now. */
  #cursorMs: number | undefined;
  /** When the chart follows the time again, by the page's clock. */
  #untilMs = 0;

  /** Looks at this moment, and stops the chart: for a while, or until {@link follow}. */
  lookAt(momentMs: number, nowMs: number, isLasting = false): void {
    this.#stillMs ??= nowMs;
    this.#cursorMs = momentMs;
    this.#untilMs = isLasting ? Infinity : performance.now() + FOLLOW_AFTER_MS;
  }

  /** Follows the time. */
  follow(): void {
    this.#stillMs = undefined;
    this.#cursorMs = undefined;
  }

  get isStill(): boolean {
    return this.#stillMs !== undefined;
  }

  view(nowMs: number, { windowMs }: Settings, width: number): View {
    const { past, future } = windowsShown(width);
    if (performance.now() > this.#untilMs) this.follow();
    const baseMs = this.#stillMs ?? nowMs;
    return {
      ...{ nowMs, fromMs: baseMs - past * windowMs, toMs: baseMs + future * windowMs },
      cursorMs: Math.min(this.#cursorMs ?? nowMs, nowMs),
    };
  }
}
