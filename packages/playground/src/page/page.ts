import type { Update } from '../shared/protocol.js';
import { Autoplay } from './autoplay.js';
import { Chart, type Drawn } from './chart.js';
import { Controls } from './controls.js';
import { showCountdown } from './countdown.js';
import { element, setText } from './elements.js';
import { Figures } from './figures.js';
import type { Host } from './host.js';
import { showResponse } from './last-response.js';
import { Model } from './model.js';
import { Pointer } from './pointer.js';
import { followPresses, Press } from './press.js';
import { Sending } from './sending.js';
import { ServerClock } from './server-clock.js';
import { fromSearch, toSearch } from './url-state.js';
import { Viewport } from './viewport.js';

/** The time between two frames with `prefers-reduced-motion`, which has no smooth animation. */
const CALM_MS = 500;
const LABEL_MS = 1000;
/** The number of frames for the average frame time. */
const MEASURED = 20;

/** The page, with requests that `host` decides. */
export class Page {
  readonly #host: Host;
  readonly #link = fromSearch(location.search);
  readonly #model = new Model();
  readonly #clock = new ServerClock();
  readonly #viewport = new Viewport();
  readonly #figures = new Figures(this.#model);
  readonly #chart = new Chart(this.#model, this.#viewport);
  readonly #autoplay: Autoplay;
  readonly #controls: Controls;
  readonly #sending: Sending;
  readonly #pointer: Pointer;
  readonly #banner = element('#banner');
  readonly #rows = element<HTMLInputElement>('#all-rows');
  readonly #root = element('#chart');
  readonly #calm = matchMedia('(prefers-reduced-motion: reduce)');
  #isBegun = false;
  #labeledMs = -Infinity;
  readonly #tookMs: number[] = [];

  constructor(host: Host) {
    this.#host = host;
    this.#autoplay = new Autoplay(host, this.#model, this.#link.scenario, this.#link.isAutoplayOn);
    const onUse = () => this.#autoplay.end();
    this.#controls = new Controls(host, onUse);
    this.#sending = new Sending(host, this.#model, onUse);
    const press = new Press(() => {
      onUse();
      this.#sending.send();
    });
    followPresses(element('#send'), press);
    this.#pointer = new Pointer(this.#chart, this.#model, this.#viewport, press);
    this.#rows.checked = this.#link.showsAll;
    this.#rows.addEventListener('change', () => this.#showRows());
    this.#showRows();
    host.follow(
      (update) => this.#receive(update),
      (isConnected) => this.#connect(isConnected),
    );
    requestAnimationFrame((screenMs) => this.#frame(screenMs));
  }

  #receive(update: Update): void {
    if (update.isWhole) this.#clock.reset();
    this.#clock.receive(update.nowMs);
    this.#model.apply(update);
    this.#controls.show(update.state.settings);
    showResponse(update.response);
    this.#showBanner();
    if (this.#isBegun) this.#showInUrl();
  }

  #connect(isConnected: boolean): void {
    document.body.dataset.connected = String(isConnected);
    this.#showBanner();
    if (isConnected && !this.#isBegun) void this.#begin();
  }

  /** Applies the link that led here. */
  async #begin(): Promise<void> {
    this.#isBegun = true;
    const { hasSettings, settings } = this.#link;
    if (hasSettings) await this.#host.change(settings, true);
    this.#autoplay.begin();
  }

  #showRows(): void {
    this.#chart.showAll(this.#rows.checked);
    if (this.#isBegun) this.#showInUrl();
  }

  #showInUrl(): void {
    const { state, run } = this.#model;
    const scenario = run === undefined || run.isAuto ? this.#link.scenario : run.scenario;
    const search = toSearch(location.search, state.settings, this.#rows.checked, scenario);
    if (search !== location.search) history.replaceState(null, '', `${location.pathname}${search}`);
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
    if (this.#calm.matches) setTimeout(() => requestAnimationFrame(next), CALM_MS);
    else requestAnimationFrame(next);
    const startedMs = performance.now();
    const nowMs = this.#clock.now();
    showCountdown(this.#model.next?.[this.#model.state.settings.algorithm], nowMs);
    this.#figures.show(nowMs);
    this.#figures.announce(nowMs, screenMs);
    this.#sending.show(nowMs);
    if (screenMs - this.#labeledMs > LABEL_MS) {
      this.#labeledMs = screenMs;
      this.#chart.canvas.setAttribute('aria-label', this.#figures.words(nowMs));
    }
    this.#record(this.#chart.draw(nowMs), startedMs);
    this.#pointer.show();
  }

  /** Records for the tests what the frame showed, and how long the page took for it. */
  #record(drawn: Drawn, startedMs: number): void {
    const text = JSON.stringify(drawn);
    if (this.#root.dataset.drawn !== text) this.#root.dataset.drawn = text;
    this.#tookMs.push(performance.now() - startedMs);
    if (this.#tookMs.length < MEASURED) return;
    const sum = this.#tookMs.reduce((all, each) => all + each, 0);
    this.#root.dataset.frameMs = (sum / this.#tookMs.length).toFixed(3);
    this.#tookMs.length = 0;
  }
}
