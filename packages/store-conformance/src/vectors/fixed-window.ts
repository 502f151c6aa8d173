import type { Vector } from './vector.js';

export const fixedWindowVectors: readonly Vector[] = [
  {
    title: 'an empty key has the whole quota',
    limit: { algorithm: 'fixedWindow', options: { limit: 3, window: 1000 } },
    steps: [
      { at: 0, peek: true, cost: 1, allowed: true, remaining: 3, retryAfterMs: 0, resetMs: 0, delayMs: 0 },
      { at: 0, peek: true, cost: 3, allowed: true, remaining: 3, retryAfterMs: 0, resetMs: 0, delayMs: 0 },
      { at: 0, cost: 3, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 1000, delayMs: 0 },
      { at: 0, cost: 1, allowed: false, remaining: 0, retryAfterMs: 1000, resetMs: 1000, delayMs: 0 },
    ],
  },
  {
    title: 'a window ends where the clock is a multiple of its length, whenever it was begun',
    limit: { algorithm: 'fixedWindow', options: { limit: 2, window: 1000 } },
    steps: [
      { at: 700, cost: 1, allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 300, delayMs: 0 },
      { at: 800, cost: 1, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 200, delayMs: 0 },
      { at: 800, cost: 1, allowed: false, remaining: 0, retryAfterMs: 200, resetMs: 200, delayMs: 0 },
      { at: 999.999, cost: 1, allowed: false, remaining: 0, retryAfterMs: 0.001, resetMs: 0.001, delayMs: 0 },
      { at: 1000, cost: 1, allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 1000, delayMs: 0 },
    ],
  },
  {
    title: 'twice the limit goes through at a boundary',
    limit: { algorithm: 'fixedWindow', options: { limit: 3, window: 1000 } },
    steps: [
      { at: 999.999, cost: 3, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 0.001, delayMs: 0 },
      { at: 999.999, cost: 1, allowed: false, remaining: 0, retryAfterMs: 0.001, resetMs: 0.001, delayMs: 0 },
      { at: 1000, cost: 3, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 1000, delayMs: 0 },
      { at: 1000, cost: 1, allowed: false, remaining: 0, retryAfterMs: 1000, resetMs: 1000, delayMs: 0 },
    ],
  },
  {
    title: 'a cost takes as many places',
    limit: { algorithm: 'fixedWindow', options: { limit: 5, window: 1000 } },
    steps: [
      { at: 0, cost: 2, allowed: true, remaining: 3, retryAfterMs: 0, resetMs: 1000, delayMs: 0 },
      { at: 100, cost: 2, allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 900, delayMs: 0 },
      { at: 200, cost: 2, allowed: false, remaining: 1, retryAfterMs: 800, resetMs: 800, delayMs: 0 },
      { at: 200, cost: 1, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 800, delayMs: 0 },
      { at: 200, cost: 1, allowed: false, remaining: 0, retryAfterMs: 800, resetMs: 800, delayMs: 0 },
      { at: 999.999, cost: 5, allowed: false, remaining: 0, retryAfterMs: 0.001, resetMs: 0.001, delayMs: 0 },
      { at: 1000, cost: 5, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 1000, delayMs: 0 },
    ],
  },
  {
    title: 'a cost above the quota is never allowed',
    limit: { algorithm: 'fixedWindow', options: { limit: 3, window: 1000 } },
    steps: [
      { at: 0, cost: 4, allowed: false, remaining: 3, retryAfterMs: Infinity, resetMs: 0, delayMs: 0 },
      { at: 0, cost: 1, allowed: true, remaining: 2, retryAfterMs: 0, resetMs: 1000, delayMs: 0 },
      { at: 500, cost: 3, allowed: false, remaining: 2, retryAfterMs: 500, resetMs: 500, delayMs: 0 },
      { at: 500, cost: 4, allowed: false, remaining: 2, retryAfterMs: Infinity, resetMs: 500, delayMs: 0 },
      { at: 1000, cost: 3, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 1000, delayMs: 0 },
    ],
  },
  {
    title: 'time before the running window counts as in it',
    limit: { algorithm: 'fixedWindow', options: { limit: 2, window: 1000 } },
    steps: [
      { at: 2500, cost: 1, allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 500, delayMs: 0 },
      { at: 1400, cost: 1, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 1600, delayMs: 0 },
      { at: 1400, cost: 1, allowed: false, remaining: 0, retryAfterMs: 1600, resetMs: 1600, delayMs: 0 },
      { at: 2999.999, cost: 1, allowed: false, remaining: 0, retryAfterMs: 0.001, resetMs: 0.001, delayMs: 0 },
      { at: 3000, cost: 2, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 1000, delayMs: 0 },
    ],
  },
  {
    title: 'what ends more than two windows ahead was written by a wrong clock',
    limit: { algorithm: 'fixedWindow', options: { limit: 1, window: 1000 } },
    steps: [
      { at: 5000, cost: 1, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 1000, delayMs: 0 },
      { at: 4000, cost: 1, allowed: false, remaining: 0, retryAfterMs: 2000, resetMs: 2000, delayMs: 0 },
      { at: 3999.999, cost: 1, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 0.001, delayMs: 0 },
      { at: 3999.999, cost: 1, allowed: false, remaining: 0, retryAfterMs: 0.001, resetMs: 0.001, delayMs: 0 },
    ],
  },
  {
    title: 'a refund gives back exactly what was taken, once, while its window runs',
    limit: { algorithm: 'fixedWindow', options: { limit: 3, window: 1000 } },
    steps: [
      { at: 0, cost: 1, allowed: true, remaining: 2, retryAfterMs: 0, resetMs: 1000, delayMs: 0 },
      { at: 100, cost: 2, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 900, delayMs: 0 },
      { at: 200, cost: 1, allowed: false, remaining: 0, retryAfterMs: 800, resetMs: 800, delayMs: 0 },
      { at: 300, refund: 1 },
      { at: 300, refund: 1 },
      { at: 300, cost: 2, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 700, delayMs: 0 },
      { at: 1000, cost: 3, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 1000, delayMs: 0 },
      { at: 1000, refund: 0 },
      { at: 1000, cost: 1, allowed: false, remaining: 0, retryAfterMs: 1000, resetMs: 1000, delayMs: 0 },
    ],
  },
  {
    title: 'a key whose actions were all refunded is as new',
    limit: { algorithm: 'fixedWindow', options: { limit: 2, window: 1000 } },
    steps: [
      { at: 0, cost: 2, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 1000, delayMs: 0 },
      { at: 500, refund: 0 },
      { at: 500, peek: true, cost: 2, allowed: true, remaining: 2, retryAfterMs: 0, resetMs: 0, delayMs: 0 },
      { at: 500, cost: 2, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 500, delayMs: 0 },
    ],
  },
  {
    title: 'what is refunded after a reset gives nothing',
    limit: { algorithm: 'fixedWindow', options: { limit: 2, window: 1000 } },
    steps: [
      { at: 0, cost: 1, allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 1000, delayMs: 0 },
      { at: 100, reset: true },
      { at: 100, cost: 2, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 900, delayMs: 0 },
      { at: 200, refund: 0 },
      { at: 200, cost: 1, allowed: false, remaining: 0, retryAfterMs: 800, resetMs: 800, delayMs: 0 },
    ],
  },
  {
    title: 'a minimal difference bars places that are free, also across a boundary',
    limit: { algorithm: 'fixedWindow', options: { limit: 3, window: 1000, minDifference: 100 } },
    steps: [
      { at: 0, cost: 1, allowed: true, remaining: 2, retryAfterMs: 0, resetMs: 1000, delayMs: 0 },
      { at: 50, cost: 1, allowed: false, remaining: 2, retryAfterMs: 50, resetMs: 950, delayMs: 0 },
      { at: 99.999, cost: 1, allowed: false, remaining: 2, retryAfterMs: 0.001, resetMs: 900.001, delayMs: 0 },
      { at: 100, cost: 1, allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 900, delayMs: 0 },
      { at: 950, cost: 1, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 50, delayMs: 0 },
      { at: 1000, cost: 1, allowed: false, remaining: 3, retryAfterMs: 50, resetMs: 0, delayMs: 0 },
      { at: 1049.999, cost: 1, allowed: false, remaining: 3, retryAfterMs: 0.001, resetMs: 0, delayMs: 0 },
      { at: 1050, cost: 1, allowed: true, remaining: 2, retryAfterMs: 0, resetMs: 950, delayMs: 0 },
    ],
  },
  {
    title: 'a minimal difference may be longer than the window',
    limit: { algorithm: 'fixedWindow', options: { limit: 2, window: 100, minDifference: 1000 } },
    steps: [
      { at: 50, cost: 2, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 50, delayMs: 0 },
      { at: 100, cost: 2, allowed: false, remaining: 2, retryAfterMs: 950, resetMs: 0, delayMs: 0 },
      { at: 1049.999, cost: 1, allowed: false, remaining: 2, retryAfterMs: 0.001, resetMs: 0, delayMs: 0 },
      { at: 1050, cost: 1, allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 50, delayMs: 0 },
    ],
  },
  {
    title: 'an idle key has its whole quota again',
    limit: { algorithm: 'fixedWindow', options: { limit: 2, window: 1000 } },
    steps: [
      { at: 300, cost: 1, allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 700, delayMs: 0 },
      { at: 999.999, peek: true, cost: 1, allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 0.001, delayMs: 0 },
      { at: 1000, peek: true, cost: 2, allowed: true, remaining: 2, retryAfterMs: 0, resetMs: 0, delayMs: 0 },
      { at: 86400999.999, cost: 2, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 0.001, delayMs: 0 },
      { at: 86401000, cost: 2, allowed: true, remaining: 0, retryAfterMs: 0, resetMs: 1000, delayMs: 0 },
    ],
  },
];
