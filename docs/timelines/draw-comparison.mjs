// Draws `docs/images/rolling-and-fixed.svg`, which compares the rolling window with the fixed window of express-rate-limit,
// from the decisions of real limiters: npm run build && node docs/timelines/draw-comparison.mjs
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MemoryStore, manualClock, RateLimiter, rollingWindow } from '../../packages/core/dist/index.js';
import { createExpressWindow } from '../../packages/playground/dist/race.js';
import { markAt, round, toPicture } from './marks.mjs';

const FILE = fileURLToPath(new URL('../images/rolling-and-fixed.svg', import.meta.url));
const LIMIT = 10;
const WINDOW_MS = 60_000;
/** One request, the rest of the limit just before its minute ends, the limit again just after, and single requests. */
const BURSTS = [
  { atMs: 6_000, count: 1 },
  { atMs: 64_000, count: LIMIT - 1 },
  { atMs: 68_000, count: LIMIT },
  ...[82_000, 97_000, 112_000, 124_500, 127_500, 130_500].map((atMs) => ({ atMs, count: 1 })),
];

/** The ends of the minutes that the first request has started, and the first one after the restart. */
const RESTARTS_MS = [BURSTS[0], BURSTS[2]].map(({ atMs }) => atMs + WINDOW_MS);

const [WIDTH, MARGIN, END_MS] = [920, 16, 138_000];
const [TITLE_HEIGHT, BRACKET_HEIGHT, MARK_SIZE, GAP] = [26, 24, 12, 22];
const ROW_HEIGHT = TITLE_HEIGHT + BRACKET_HEIGHT + LIMIT * MARK_SIZE + GAP;
const AXIS_Y = 2 * ROW_HEIGHT + 12;

const window = createExpressWindow({ limit: LIMIT, windowMs: WINDOW_MS });
const ROWS = [
  { title: 'Rolling window of Rollgate', isAllowed: createRollingWindow() },
  {
    title: 'Fixed window of express-rate-limit',
    isAllowed: (atMs) => window.decide(atMs) !== null,
  },
];

const rows = await Promise.all(
  ROWS.map(async ({ title, isAllowed }, index) => draw(title, index, await decide(isAllowed))),
);
writeFileSync(
  FILE,
  toPicture(WIDTH, AXIS_Y + 52, 'Limit: 10 per minute', [...rows.flat(), ...axis(), legend(MARGIN, AXIS_Y + 40)]),
);

/** What a limiter decides: `{ atMs, allowed, isBeyond, level }` for each request, where `level` is its place in the stack. */
async function decide(isAllowed) {
  const decided = [];
  for (const { atMs, count } of BURSTS) {
    for (let level = 0; level < count; level++) {
      const allowed = await isAllowed(atMs);
      const isBeyond = allowed && startedIn(decided, atMs) >= LIMIT;
      decided.push({ atMs, allowed, isBeyond, level });
    }
  }
  return decided;
}

function createRollingWindow() {
  const clock = manualClock();
  const limits = rollingWindow({ limit: LIMIT, window: WINDOW_MS });
  const limiter = new RateLimiter({ limits, store: new MemoryStore({ clock }) });
  return async (atMs) => {
    clock.advance(atMs - clock.now());
    return (await limiter.check('client')).allowed;
  };
}

function startedIn(decided, toMs) {
  return decided.filter(({ allowed, atMs }) => allowed && atMs <= toMs && atMs > toMs - WINDOW_MS).length;
}

function draw(title, index, requests) {
  const top = index * ROW_HEIGHT + 8;
  const floor = top + TITLE_HEIGHT + BRACKET_HEIGHT + LIMIT * MARK_SIZE;
  const most = Math.max(...requests.map(({ atMs }) => startedIn(requests, atMs)));
  const isExact = most <= LIMIT;
  const verdict = `${isExact ? 'at most' : 'up to'} ${most} in a minute ${isExact ? '✓' : '✗'}`;
  return [
    `<text class="text" x="${MARGIN}" y="${top + 18}" font-size="16" font-weight="700">${title}: <tspan class="${isExact ? 'good' : 'beyond'}-text">${verdict}</tspan></text>`,
    `<path class="line" d="M${MARGIN} ${floor + 1}H${WIDTH - MARGIN}"/>`,
    ...(isExact
      ? []
      : [...RESTARTS_MS.map((atMs) => restart(atMs, floor)), bracket(top + TITLE_HEIGHT + BRACKET_HEIGHT - 4, most)]),
    ...requests.map((request) => markAt(request, x(request.atMs), floor - MARK_SIZE * (request.level + 0.5))),
  ];
}

/** A bracket over the two bursts, in which the fixed window allows too many. */
function bracket(y, most) {
  const [from, to] = [BURSTS[1].atMs, BURSTS[2].atMs];
  const [left, right] = [x(from) - 8, x(to) + 8];
  const text = `${most} within ${(to - from) / 1000} seconds`;
  return `<path class="bracket" d="M${left} ${y + 5}V${y}H${right}V${y + 5}"/><text class="beyond-text" x="${round((left + right) / 2)}" y="${y - 4}" font-weight="700" font-size="13" text-anchor="middle">${text}</text>`;
}

function restart(atMs, floor) {
  const at = x(atMs);
  return `<path class="edge" stroke-width="1.5" stroke-dasharray="4 3" d="M${at} ${floor - LIMIT * MARK_SIZE}V${floor + 4}"/><text class="text" x="${at}" y="${floor + 16}" text-anchor="middle">counter restarts</text>`;
}

function axis() {
  return [0, 1, 2].map(
    (minute) =>
      `<text class="quiet" x="${x(minute * WINDOW_MS)}" y="${AXIS_Y + 8}" text-anchor="${minute === 0 ? 'start' : 'middle'}">${minute} min</text>`,
  );
}

function legend(left, y) {
  const entries = [
    ['allowed', { allowed: true }, 0],
    ['allowed beyond the limit of 10 per minute', { allowed: true, isBeyond: true }, 90],
    ['rejected', { allowed: false }, 370],
  ];
  return entries
    .map(
      ([text, request, at]) =>
        `${markAt(request, left + at + 6, y - 4)}<text class="quiet" x="${left + at + 18}" y="${y}">${text}</text>`,
    )
    .join('');
}

function x(ms) {
  return round(MARGIN + (ms / END_MS) * (WIDTH - 2 * MARGIN));
}
