import type { Next } from '../shared/protocol.js';
import { element, say } from './elements.js';

const target = element('#countdown');
const turn = element('#turn');

/**
 * Shows when the next request is allowed. It rounds up to tenths of a second, so it shows "now" at that time and not before.
 */
export function showCountdown(next: Next | undefined, nowMs: number): void {
  if (next === undefined) return;
  const leftMs = next.allowedAtMs - nowMs;
  const heldMs = next.turnAtMs - Math.max(nowMs, next.allowedAtMs);
  say(target, leftMs > 0 ? `in ${tenths(leftMs)}` : 'now');
  say(turn, heldMs > 0 ? `and then delayed by ${tenths(heldMs)}` : '');
  target.dataset.allowedAtMs = String(next.allowedAtMs);
}

function tenths(ms: number): string {
  return `${(Math.ceil(ms / 100) / 10).toFixed(1)} s`;
}
