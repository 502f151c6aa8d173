// Draws a timeline of each algorithm to `docs/images`, from the decisions of real limiters:
// npm run build && node docs/timelines/draw.mjs
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { markAt, round, toPicture } from './marks.mjs';
import { checkBy, decide, decideConcurrency, LIMITS } from './traffic.mjs';

const IMAGES = fileURLToPath(new URL('../images', import.meta.url));
const WIDTH = 640;
const MARGIN = 12;
const END_MS = 30_000;
const AXIS_Y = 62;
const REQUEST_Y = 38;
/** The row of requests as they leave a queue, and of the work that holds a slot. */
const STARTED_Y = 18;

const ON_THE_CLOCK = ['fixed-window', 'sliding-window-counter', 'bucketed-window'];

mkdirSync(IMAGES, { recursive: true });
for (const [name, limit] of Object.entries(LIMITS)) {
  const requests = await decide(checkBy(limit));
  const marks = requests.map((request) => markOf(request) + delayOf(request));
  writeFileSync(`${IMAGES}/${name}.svg`, picture(name, marks, ON_THE_CLOCK.includes(name)));
}
const work = await decideConcurrency();
const slots = work.map((each) => markOf(each) + slotOf(each));
writeFileSync(`${IMAGES}/concurrency.svg`, picture('concurrency', slots, false));

function x(ms) {
  return round(MARGIN + (ms / END_MS) * (WIDTH - 2 * MARGIN));
}

function markOf(request) {
  return markAt(request, x(request.atMs), REQUEST_Y);
}

/** A line from an accepted request to its start. */
function delayOf({ atMs, allowed, startMs }) {
  if (!allowed || startMs === atMs) return '';
  const line = `<path class="edge" d="M${x(atMs)} ${REQUEST_Y - 6}L${x(startMs)} ${STARTED_Y}"/>`;
  return `${line}<circle class="waiting" cx="${x(startMs)}" cy="${STARTED_Y}" r="4"/>`;
}

/** A bar as long as the work holds its slot. */
function slotOf({ atMs, allowed, slot, endMs }) {
  if (!allowed) return '';
  const y = STARTED_Y - 10 + slot * 9;
  return `<rect class="allowed" x="${x(atMs)}" y="${y}" width="${round(x(endMs) - x(atMs))}" height="6" rx="3"/>`;
}

function picture(name, marks, isOnTheClock) {
  const boundaries = isOnTheClock ? [10_000, 20_000].map((ms) => `M${x(ms)} 6V${AXIS_Y}`).join('') : '';
  const ticks = [0, 10_000, 20_000, 30_000].map((ms) => {
    const anchor = ms === 0 ? 'start' : ms === END_MS ? 'end' : 'middle';
    return `<text class="quiet" x="${x(ms)}" y="${AXIS_Y + 16}" text-anchor="${anchor}">${ms / 1000} s</text>`;
  });
  return toPicture(WIDTH, 86, name.replaceAll('-', ' '), [
    ...(isOnTheClock ? [`<path class="edge" d="${boundaries}" stroke-dasharray="4 4"/>`] : []),
    `<path class="edge" d="M${MARGIN} ${AXIS_Y}H${WIDTH - MARGIN}"/>`,
    ...ticks,
    ...marks,
  ]);
}
