import type { Next } from '../shared/protocol.js';
import { element, setText } from './elements.js';

const target = element('#countdown');
const delay = element('#delay');

/**
 * Shows when the next request is allowed. The time is rounded up to tenths of a second, so "now" never appears too early.
 */
export function showCountdown(next: Next | undefined, nowMs: number): void {
  if (next === undefined) return;
  const leftMs = next.allowedAtMs - nowMs;
  const delayMs = next.startsAtMs - Math.max(nowMs, next.allowedAtMs);
  setText(target, leftMs > 0 ? `in ${tenths(leftMs)}` : 'now');
  setText(delay, delayMs > 0 ? `and then delayed by ${tenths(delayMs)}` : '');
  target.dataset.allowedAtMs = String(next.allowedAtMs);
}

function tenths(ms: number): string {
  return `${(Math.ceil(ms / 100) / 10).toFixed(1)} s`;
}
