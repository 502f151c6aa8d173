// Draws a timeline of each algorithm to `docs/images`, from the decisions of real limiters:
// npm run build && node docs/timelines/draw.mjs
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { decide, decideConcurrency, LIMITS } from './traffic.mjs';

const IMAGES = fileURLToPath(new URL('../images', import.meta.url));
const WIDTH = 640;
const MARGIN = 12;
const END_MS = 30_000;
const AXIS_Y = 62;
const REQUEST_Y = 38;
/** The row of requests as they leave a queue, and of the work that holds a slot. */
const STARTED_Y = 18;

const COLORS = { allowed: '#1a7f37', rejected: '#6e7781', beyond: '#cf222e', line: '#6e7781' };
const ON_THE_CLOCK = ['fixed-window', 'sliding-window-counter', 'bucketed-window'];

mkdirSync(IMAGES, { recursive: true });
for (const [name, limit] of Object.entries(LIMITS)) {
  const requests = await decide(limit);
  const marks = requests.map((request) => markOf(request) + delayOf(request));
  writeFileSync(`${IMAGES}/${name}.svg`, picture(marks, ON_THE_CLOCK.includes(name)));
}
const work = await decideConcurrency();
writeFileSync(
  `${IMAGES}/concurrency.svg`,
  picture(
    work.map((each) => markOf(each) + slotOf(each)),
    false,
  ),
);

function x(ms) {
  return round(MARGIN + (ms / END_MS) * (WIDTH - 2 * MARGIN));
}

function round(value) {
  return Math.round(value * 10) / 10;
}

function markOf({ atMs, allowed, isBeyond }) {
  const at = x(atMs);
  if (isBeyond) {
    return `<path d="M${at} ${REQUEST_Y - 6}l6 11h-12z" fill="${COLORS.beyond}"/>`;
  }
  if (allowed) return `<circle cx="${at}" cy="${REQUEST_Y}" r="5" fill="${COLORS.allowed}"/>`;
  const cross = `M${round(at - 4)} ${REQUEST_Y - 4}l8 8m0-8l-8 8`;
  return `<path d="${cross}" stroke="${COLORS.rejected}" stroke-width="2" fill="none"/>`;
}

/** A line from an accepted request to its start. */
function delayOf({ atMs, allowed, startMs }) {
  if (!allowed || startMs === atMs) return '';
  const line = `<path d="M${x(atMs)} ${REQUEST_Y - 6}L${x(startMs)} ${STARTED_Y}" stroke="${COLORS.line}"/>`;
  return `${line}<circle cx="${x(startMs)}" cy="${STARTED_Y}" r="4" fill="none" stroke="${COLORS.allowed}" stroke-width="2"/>`;
}

/** A bar as long as the work holds its slot. */
function slotOf({ atMs, allowed, slot, endMs }) {
  if (!allowed) return '';
  const y = STARTED_Y - 10 + slot * 9;
  return `<rect x="${x(atMs)}" y="${y}" width="${round(x(endMs) - x(atMs))}" height="6" rx="3" fill="${COLORS.allowed}"/>`;
}

function picture(marks, isOnTheClock) {
  const boundaries = isOnTheClock ? [10_000, 20_000].map((ms) => `M${x(ms)} 6V${AXIS_Y}`).join('') : '';
  const ticks = [0, 10_000, 20_000, 30_000].map((ms) => {
    const anchor = ms === 0 ? 'start' : ms === END_MS ? 'end' : 'middle';
    return `<text x="${x(ms)}" y="${AXIS_Y + 16}" text-anchor="${anchor}">${ms / 1000} s</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} 86" width="${WIDTH}" height="86" font-family="sans-serif" font-size="12">
<rect width="${WIDTH}" height="86" rx="6" fill="#ffffff"/>
<path d="${boundaries}" stroke="${COLORS.line}" stroke-dasharray="4 4"/>
<path d="M${MARGIN} ${AXIS_Y}H${WIDTH - MARGIN}" stroke="${COLORS.line}"/>
${ticks.join('\n')}
${marks.join('\n')}
</svg>
`;
}
