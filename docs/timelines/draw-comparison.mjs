// Draws `docs/images/rolling-and-fixed.svg`, which compares the rolling window with the fixed window of express-rate-limit,
// and `rolling-and-fixed-narrow.svg` for phones, from the decisions of real limiters:
// npm run build && node docs/timelines/draw-comparison.mjs
import { writeFileSync } from 'node:fs';
import { rollingWindow } from '../../packages/core/dist/index.js';
import { createExpressWindow } from '../../packages/playground/dist/race.js';
import { markAt, round, toPicture } from './marks.mjs';
import { checkBy, decide } from './traffic.mjs';

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

/** What differs between the pictures. Text of 16 px stays readable in a picture of the width of a phone. */
const LAYOUTS = [
  {
    file: 'rolling-and-fixed.svg',
    ...{ width: 920, endMs: 138_000, size: 12, titleSize: 16 },
    titles: ['Rolling window of Rollgate', 'Fixed window of express-rate-limit'],
    period: ' in a minute',
    legend: [
      ['allowed', 0],
      ['allowed beyond the limit of 10 per minute', 90],
      ['rejected', 370],
    ],
  },
  {
    file: 'rolling-and-fixed-narrow.svg',
    ...{ width: 380, endMs: 92_000, size: 16, titleSize: 17 },
    titles: ['Rollgate', 'express-rate-limit'],
    period: '',
    legend: [
      ['allowed', 0],
      ['too many', 104],
      ['rejected', 220],
    ],
  },
];

const MARGIN = 16;
const [TITLE_HEIGHT, BRACKET_HEIGHT, MARK_SIZE, GAP] = [26, 24, 12, 22];
const ROW_HEIGHT = TITLE_HEIGHT + BRACKET_HEIGHT + LIMIT * MARK_SIZE + GAP;
const AXIS_Y = 2 * ROW_HEIGHT + 12;

const window = createExpressWindow({ limit: LIMIT, windowMs: WINDOW_MS });
const CHECKS = [
  checkBy(rollingWindow({ limit: LIMIT, window: WINDOW_MS })),
  (atMs) => ({ allowed: window.decide(atMs) !== null }),
];
const TIMES = BURSTS.flatMap(({ atMs, count }) => new Array(count).fill(atMs));
const DECIDED = [];
for (const check of CHECKS) DECIDED.push(await decide(check, TIMES, { limit: LIMIT, windowMs: WINDOW_MS }));

for (const layout of LAYOUTS) {
  const rows = DECIDED.flatMap((requests, index) => draw(layout, index, requests));
  const parts = [...rows, ...axis(layout), legend(layout)];
  const picture = toPicture(layout.width, AXIS_Y + 52, 'Limit: 10 per minute', parts);
  writeFileSync(new URL(`../images/${layout.file}`, import.meta.url), picture);
}

function startedIn(decided, toMs) {
  return decided.filter(({ allowed, atMs }) => allowed && atMs <= toMs && atMs > toMs - WINDOW_MS).length;
}

function draw(layout, index, requests) {
  const { width, endMs, titleSize, titles, period } = layout;
  const x = toX(layout);
  const top = index * ROW_HEIGHT + 8;
  const floor = top + TITLE_HEIGHT + BRACKET_HEIGHT + LIMIT * MARK_SIZE;
  const most = Math.max(...requests.map(({ atMs }) => startedIn(requests, atMs)));
  const isExact = most <= LIMIT;
  const verdict = `${isExact ? 'at most' : 'up to'} ${most}${period} ${isExact ? '✓' : '✗'}`;
  const restarts = RESTARTS_MS.filter((atMs) => atMs < endMs).map((atMs) => restart(layout, atMs, floor));
  const above = top + TITLE_HEIGHT + BRACKET_HEIGHT - 4;
  return [
    `<text class="text" x="${MARGIN}" y="${top + 18}" font-size="${titleSize}" font-weight="700">${titles[index]}: <tspan class="${isExact ? 'good' : 'beyond'}-text">${verdict}</tspan></text>`,
    `<path class="line" d="M${MARGIN} ${floor + 1}H${width - MARGIN}"/>`,
    ...(isExact ? [] : [...restarts, bracket(layout, above, most)]),
    ...requests
      .filter(({ atMs }) => atMs < endMs)
      // Requests of one time are in a stack.
      .map((request, place) =>
        markAt(request, x(request.atMs), floor - MARK_SIZE * (place - TIMES.indexOf(request.atMs) + 0.5)),
      ),
  ];
}

/** A bracket over the two bursts, in which the fixed window allows too many. */
function bracket(layout, y, most) {
  const x = toX(layout);
  const [from, to] = [BURSTS[1].atMs, BURSTS[2].atMs];
  const [left, right] = [x(from) - 8, x(to) + 8];
  const text = `${most} within ${(to - from) / 1000} seconds`;
  return `<path class="bracket" d="M${left} ${y + 5}V${y}H${right}V${y + 5}"/><text class="beyond-text" x="${round((left + right) / 2)}" y="${y - 4}" font-weight="700" font-size="${layout.size + 1}" text-anchor="middle">${text}</text>`;
}

function restart(layout, atMs, floor) {
  const at = toX(layout)(atMs);
  return `<path class="edge" stroke-width="1.5" stroke-dasharray="4 3" d="M${at} ${floor - LIMIT * MARK_SIZE}V${floor + 4}"/><text class="text" x="${at}" y="${floor + 16}" font-size="${layout.size}" text-anchor="middle">counter restarts</text>`;
}

function axis(layout) {
  return [0, 1, 2]
    .filter((minute) => minute * WINDOW_MS < layout.endMs)
    .map(
      (minute) =>
        `<text class="quiet" x="${toX(layout)(minute * WINDOW_MS)}" y="${AXIS_Y + 8}" font-size="${layout.size}" text-anchor="${minute === 0 ? 'start' : 'middle'}">${minute} min</text>`,
    );
}

function legend({ legend: entries, size }) {
  const y = AXIS_Y + 40;
  const kinds = [{ allowed: true }, { allowed: true, isBeyond: true }, { allowed: false }];
  return entries
    .map(
      ([text, at], index) =>
        `${markAt(kinds[index], MARGIN + at + 6, y - 4)}<text class="quiet" x="${MARGIN + at + 18}" y="${y}" font-size="${size}">${text}</text>`,
    )
    .join('');
}

function toX({ width, endMs }) {
  return (ms) => round(MARGIN + (ms / endMs) * (width - 2 * MARGIN));
}
