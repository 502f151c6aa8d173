import { Buttons } from './buttons.js';
import { Chart, type Drawn } from './chart.js';
import { Controls } from './controls.js';
import { showCountdown } from './countdown.js';
import { element, setText } from './elements.js';
import { Figures } from './figures.js';
import { LiveUpdates } from './live-updates.js';
import { Model } from './model.js';
import { ServerClock } from './server-clock.js';
import { countsAt } from './window-counts.js';

/** The time between two frames with `prefers-reduced-motion`, which has no smooth animation. */
const CALM_MS = 500;
const LABEL_MS = 1000;
/** The number of frames for the average frame time. */
const MEASURED = 20;

const model = new Model();
const clock = new ServerClock();
const figures = new Figures(model);
const controls = new Controls();
const banner = element('#banner');
const root = element('#chart');
const chart = new Chart(root, model, recordFrame);
const calm = matchMedia('(prefers-reduced-motion: reduce)');
let [labeledMs, startedMs] = [-Infinity, 0];
const tookMs: number[] = [];

new Buttons(model, clock);
new LiveUpdates(
  (update) => {
    if (update.isWhole) clock.reset();
    clock.receive(update.nowMs);
    model.apply(update);
    controls.show(update.state.settings);
    showBanner();
  },
  (isConnected) => {
    document.body.dataset.connected = String(isConnected);
    showBanner();
  },
);

function showBanner(): void {
  const isLost = document.body.dataset.connected === 'false';
  const isDegraded = model.attempts.at(-1)?.degraded === true;
  banner.hidden = !isLost && !isDegraded;
  if (isLost) setText(banner, 'The server does not respond. The page tries again twice a second.');
  else if (isDegraded)
    setText(banner, 'Redis did not respond to the last request, so the memory of one server decided instead.');
  else setText(banner, '');
}

function frame(screenMs: number): void {
  if (calm.matches) setTimeout(() => requestAnimationFrame(frame), CALM_MS);
  else requestAnimationFrame(frame);
  startedMs = performance.now();
  const nowMs = clock.now();
  const counts = countsAt(model, nowMs);
  showCountdown(model.next, nowMs);
  figures.show(counts);
  figures.announce(counts, screenMs);
  if (screenMs - labeledMs > LABEL_MS) {
    labeledMs = screenMs;
    chart.canvas.setAttribute('aria-label', figures.words(counts));
  }
  chart.draw(nowMs, counts);
}

/** Records for the tests what the frame showed, and how long the page took for it. */
function recordFrame({ rolling, fixed }: Drawn): void {
  const marks = {
    allowed: rolling.allowed,
    rejected: rolling.rejected,
    fixedAllowed: fixed.allowed,
    fixedRejected: fixed.rejected,
  };
  for (const [name, value] of Object.entries(marks)) {
    if (root.dataset[name] !== String(value)) root.dataset[name] = String(value);
  }
  tookMs.push(performance.now() - startedMs);
  if (tookMs.length < MEASURED) return;
  root.dataset.frameMs = (tookMs.reduce((sum, each) => sum + each, 0) / tookMs.length).toFixed(3);
  tookMs.length = 0;
}

requestAnimationFrame(frame);
