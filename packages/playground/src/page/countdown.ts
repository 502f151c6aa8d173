import type { Next } from '../shared/protocol.js';
import { element, setText } from './elements.js';
import { formatSecondsRoundedUp } from './format.js';

const target = element('#countdown');
const delay = element('#delay');

/**
 * Shows when the next request is allowed. The time is rounded up to tenths of a second, so "now" never appears too early.
 */
export function showCountdown(next: Next | undefined, nowMs: number): void {
  if (next === undefined) return;
  const leftMs = next.allowedAtMs - nowMs;
  const delayMs = next.startsAtMs - Math.max(nowMs, next.allowedAtMs);
  setText(target, leftMs > 0 ? `in ${formatSecondsRoundedUp(leftMs)}` : 'now');
  setText(delay, delayMs > 0 ? `and then delayed by ${formatSecondsRoundedUp(delayMs)}` : '');
  target.dataset.allowedAtMs = String(next.allowedAtMs);
}
