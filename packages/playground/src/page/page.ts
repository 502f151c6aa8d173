import { Buttons } from './buttons.js';
import { Chart, type Drawn } from './chart.js';
import { Controls } from './controls.js';
import { countsAt } from './count-window.js';
import { showCountdown } from './countdown.js';
import { element, say } from './elements.js';
import { Figures } from './figures.js';
import { LiveUpdates } from './live-updates.js';
import { Model } from './model.js';
import { ServerClock } from './server-clock.js';

/** With `prefers-reduced-motion` the picture is renewed so often, and does not glide. */
const CALM_MS = 500;
const LABEL_MS = 1000;
/** Over how many frames the time that one takes is averaged. */
const MEASURED = 20;

const model = new Model();
const clock = new ServerClock();
const figures = new Figures(model);
const controls = new Controls();
const banner = element('#banner');
const root = element('#chart');
const chart = new Chart(root, model, noteDrawn);
const calm = matchMedia('(prefers-reduced-motion: reduce)');
let [labelledMs, begunMs] = [-Infinity, 0];
const tookMs: number[] = [];

new Buttons(model, clock);
new LiveUpdates(
  (update) => {
    if (update.isWhole) clock.forget();
    clock.heard(update.nowMs);
    model.take(update);
    controls.show(update.state.settings);
    showTrouble();
  },
  (isConnected) => {
    document.body.dataset.connected = String(isConnected);
    showTrouble();
  },
);

function showTrouble(): void {
  const isLost = document.body.dataset.connected === 'false';
  const isDegraded = model.attempts.at(-1)?.degraded === true;
  banner.hidden = !isLost && !isDegraded;
  if (isLost) say(banner, 'The server does not respond. The page tries again twice a second.');
  else if (isDegraded)
    say(banner, 'Redis did not respond to the last request, so the memory of one server decided instead.');
  else say(banner, '');
}

function frame(screenMs: number): void {
  if (calm.matches) setTimeout(() => requestAnimationFrame(frame), CALM_MS);
  else requestAnimationFrame(frame);
  begunMs = performance.now();
  const nowMs = clock.now();
  const counts = countsAt(model, nowMs);
  showCountdown(model.next, nowMs);
  figures.show(counts);
  figures.announce(counts, screenMs);
  if (screenMs - labelledMs > LABEL_MS) {
    labelledMs = screenMs;
    chart.canvas.setAttribute('aria-label', figures.words(counts));
  }
  chart.draw(nowMs, counts);
}

/** Notes for the tests what was really drawn, and how long the page took for the frame. */
function noteDrawn({ rolling, fixed }: Drawn): void {
  const noted = {
    allowed: rolling.allowed,
    rejected: rolling.rejected,
    fixedAllowed: fixed.allowed,
    fixedRejected: fixed.rejected,
  };
  for (const [name, value] of Object.entries(noted)) {
    if (root.dataset[name] !== String(value)) root.dataset[name] = String(value);
  }
  tookMs.push(performance.now() - begunMs);
  if (tookMs.length < MEASURED) return;
  root.dataset.frameMs = (tookMs.reduce((sum, each) => sum + each, 0) / tookMs.length).toFixed(3);
  tookMs.length = 0;
}

requestAnimationFrame(frame);
