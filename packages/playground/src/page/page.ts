import type { Update } from '../shared/protocol.js';
import { Autoplay } from './autoplay.js';
import { Chart, type Drawn } from './chart.js';
import { Controls } from './controls.js';
import { showCountdown } from './countdown.js';
import { element, setText } from './elements.js';
import { HighestCounts } from './highest-counts.js';
import type { Host } from './host.js';
import { showResponse } from './last-response.js';
import { Model } from './model.js';
import { Pointer } from './pointer.js';
import { RepeatingSend, sendWhilePressed } from './repeating-send.js';
import { ServerClock } from './server-clock.js';
import { TOUR, Tour } from './tour.js';
import { TrafficPanel } from './traffic-panel.js';
import { parseSearch, toSearch } from './url-state.js';
import { Viewport } from './viewport.js';

/** The time between two frames with `prefers-reduced-motion`, which has no smooth animation. */
const REDUCED_MOTION_FRAME_MS = 500;
const LABEL_INTERVAL_MS = 1000;
/** The number of frames for the average frame time. */
const AVERAGED_FRAMES = 20;

/** The page, with requests that `host` decides. */
export class Page {
  readonly #host: Host;
  readonly #link = parseSearch(location.search);
  readonly #model = new Model(this.#link.scenario);
  readonly #clock = new ServerClock();
  readonly #viewport = new Viewport();
  readonly #highestCounts = new HighestCounts(this.#model);
  readonly #chart = new Chart(this.#model, this.#viewport);
  readonly #autoplay: Autoplay;
  readonly #controls: Controls;
  readonly #trafficPanel: TrafficPanel;
  readonly #tour: Tour;
  readonly #pointer: Pointer;
  readonly #banner = element('#banner');
  readonly #rows = element<HTMLInputElement>('#all-rows');
  readonly #root = element('#chart');
  readonly #reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');
  #isLinkApplied = false;
  #labeledMs = -Infinity;
  readonly #frameTimesMs: number[] = [];

  constructor(host: Host) {
    this.#host = host;
    const { scenario, isAutoplayOn } = this.#link;
    this.#autoplay = new Autoplay(host, this.#model, scenario === undefined ? TOUR : [scenario], isAutoplayOn);
    const onUse = () => this.#autoplay.end();
    this.#controls = new Controls(host, onUse);
    this.#trafficPanel = new TrafficPanel(host, this.#model, onUse);
    this.#tour = new Tour(this.#model, (scene) => this.#trafficPanel.start(scene));
    const send = new RepeatingSend(() => {
      onUse();
      this.#trafficPanel.send();
    });
    sendWhilePressed(element('#send'), send);
    this.#pointer = new Pointer(this.#chart, this.#model, this.#viewport, send);
    this.#rows.checked = this.#link.showsAll;
    this.#rows.addEventListener('change', () => this.#showRows());
    this.#showRows();
    host.follow(
      (update) => this.#onUpdate(update),
      (isConnected) => this.#onConnection(isConnected),
    );
    requestAnimationFrame((screenMs) => this.#frame(screenMs));
  }

  #onUpdate(update: Update): void {
    if (update.isWhole) this.#clock.reset();
    this.#clock.receive(update.nowMs);
    this.#model.apply(update);
    this.#controls.show(update.state.settings, update.store);
    this.#tour.show();
    showResponse(update.response);
    this.#showBanner();
    if (this.#isLinkApplied) this.#showInUrl();
  }

  #onConnection(isConnected: boolean): void {
    document.body.dataset.connected = String(isConnected);
    this.#showBanner();
    if (isConnected && !this.#isLinkApplied) void this.#applyLink();
  }

  /** Applies the link that led here. */
  async #applyLink(): Promise<void> {
    this.#isLinkApplied = true;
    const { hasSettings, settings } = this.#link;
    if (hasSettings) await this.#host.change(settings, true);
    this.#autoplay.begin();
  }

  #showRows(): void {
    this.#chart.showAll(this.#rows.checked);
    if (this.#isLinkApplied) this.#showInUrl();
  }

  #showInUrl(): void {
    const { state, run } = this.#model;
    const isOfUser = run !== undefined && !run.isAuto && !TOUR.includes(run.scenario);
    const scenario = isOfUser ? run.scenario : this.#link.scenario;
    const search = toSearch(location.search, state.settings, this.#rows.checked, scenario);
    if (search === location.search) return;
    history.replaceState(null, '', `${location.pathname}${search}`);
    window.dispatchEvent(new Event('urlchange')); // For a page that embeds this one.
  }

  #showBanner(): void {
    const isLost = document.body.dataset.connected === 'false';
    const isDegraded = this.#model.attempts.at(-1)?.degraded === true;
    this.#banner.hidden = !isLost && !isDegraded;
    if (isLost) setText(this.#banner, 'The server does not respond. The page tries again twice a second.');
    else if (isDegraded)
      setText(this.#banner, 'Redis did not respond to the last request, so the memory of one server decided instead.');
    else setText(this.#banner, '');
  }

  #frame(screenMs: number): void {
    const next = (ms: number) => this.#frame(ms);
    if (this.#reducedMotion.matches) setTimeout(() => requestAnimationFrame(next), REDUCED_MOTION_FRAME_MS);
    else requestAnimationFrame(next);
    const startedMs = performance.now();
    const nowMs = this.#clock.now();
    showCountdown(this.#model.next?.[this.#model.state.settings.algorithm], nowMs);
    this.#highestCounts.show(nowMs);
    this.#highestCounts.announce(nowMs, screenMs);
    this.#trafficPanel.show(nowMs);
    if (screenMs - this.#labeledMs > LABEL_INTERVAL_MS) {
      this.#labeledMs = screenMs;
      this.#chart.canvas.setAttribute('aria-label', this.#highestCounts.describe(nowMs));
    }
    this.#record(this.#chart.draw(nowMs), startedMs);
    this.#pointer.show();
  }

  /** Records for the tests what the frame showed, and how long the page took for it. */
  #record(drawn: Drawn, startedMs: number): void {
    const text = JSON.stringify(drawn);
    if (this.#root.dataset.drawn !== text) this.#root.dataset.drawn = text;
    this.#frameTimesMs.push(performance.now() - startedMs);
    if (this.#frameTimesMs.length < AVERAGED_FRAMES) return;
    const totalMs = this.#frameTimesMs.reduce((total, each) => total + each, 0);
    this.#root.dataset.frameMs = (totalMs / this.#frameTimesMs.length).toFixed(3);
    this.#frameTimesMs.length = 0;
  }
}
