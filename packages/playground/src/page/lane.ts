import uPlot from 'uplot';
import { burstsOf, measuredWindow, type Race, type Row, startsOf } from '../race.js';
import type { Theme } from './theme.js';

/** What all lanes of a frame share. */
export interface View {
  readonly race: Race;
  readonly version: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  readonly theme: Theme;
}

/** A request in the chart. Requests of about the same time are stacked. */
interface Mark {
  readonly atMs: number;
  /** The place of the mark in the stack, from 0. */
  readonly level: number;
  readonly kind: 'allowed' | 'beyond' | 'rejected';
}

/** Requests that are closer are in one stack, as a share of the window. */
const STACK = 0.025;
/** The chart is as high as a multiple of the limit, so that stacks of twice the limit fit. */
const ROOM = 2.15;

/** The chart of one row: how many requests its last window has allowed, and a mark for each request. */
export class Lane {
  readonly row: Row;
  readonly element: HTMLElement;
  readonly #plot: uPlot;
  readonly #place: HTMLElement;
  #view: View | undefined;
  #version = -1;
  #race: Race | undefined;
  #marks: readonly Mark[] = [];
  #steps: readonly (readonly [atMs: number, count: number])[] = [];

  constructor(row: Row, element: HTMLElement, height: number) {
    this.row = row;
    this.element = element;
    this.#place = element.querySelector('.plot')!;
    const color = (name: keyof Theme) => () => this.#view?.theme[name] ?? 'gray';
    const limit = () => this.#view?.race.settings.limit ?? 1;
    const axis = {
      stroke: color('quiet'),
      grid: { stroke: color('grid'), width: 1 },
      ticks: { show: false },
      font: '12px system-ui, sans-serif',
    };
    this.#plot = new uPlot(
      {
        width: 300,
        height,
        // Room for half of the last label on the right.
        padding: [6, 20, 0, 0],
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: {
            time: false,
            range: () => [this.#view?.fromMs ?? 0, this.#view?.toMs ?? 1].map((ms) => ms / 1000) as never,
          },
          y: { range: () => [0, Math.max(ROOM * limit(), limit() + 2)] },
        },
        axes: [
          { ...axis, size: 22, gap: 2, space: 44, values: (_, seconds) => seconds.map((second) => `${second} s`) },
          { ...axis, size: 32, gap: 4, splits: () => [limit(), 2 * limit()] },
        ],
        series: [
          {},
          {
            stroke: color('quiet'),
            fill: color('band'),
            width: 1.5,
            points: { show: false },
            paths: uPlot.paths.stepped!({ align: 1 }),
          },
        ],
        hooks: { drawClear: [() => this.#paintBackground()], draw: [() => this.#paintMarks()] },
      },
      [[], []],
      this.#place,
    );
    this.canvas.setAttribute('role', 'img');
  }

  get canvas(): HTMLCanvasElement {
    return this.#plot.ctx.canvas;
  }

  /** @param label What the chart shows, for screen readers. */
  draw(view: View, label: string): void {
    this.#view = view;
    if (view.race !== this.#race || view.version !== this.#version) this.#update(view);
    if (this.canvas.getAttribute('aria-label') !== label) this.canvas.setAttribute('aria-label', label);
    const width = this.#place.clientWidth;
    if (width > 0 && width !== this.#plot.width) this.#plot.setSize({ width, height: this.#plot.height });
    const shown = this.#steps.filter(([atMs]) => atMs <= view.nowMs);
    const last = shown.at(-1)?.[1] ?? 0;
    const points = [...shown, [Math.min(view.nowMs, view.toMs), last] as const];
    this.#plot.setData([points.map(([atMs]) => atMs / 1000), points.map(([, count]) => count)]);
  }

  destroy(): void {
    this.#plot.destroy();
    this.element.remove();
  }

  #update({ race, version }: View): void {
    [this.#race, this.#version] = [race, version];
    const starts = startsOf(race.shots, this.row);
    this.#marks = toMarks(race, this.row, starts);
    const { windowMs } = race.settings;
    const changes = [
      ...starts.map((atMs) => [atMs, 1] as const),
      ...starts.map((atMs) => [atMs + windowMs, -1] as const),
    ];
    let count = 0;
    this.#steps = changes
      .sort(([one, up], [other, otherUp]) => one - other || up - otherUp)
      .map(([atMs, change]) => {
        count += change;
        return [atMs, count] as const;
      });
  }

  #x(ms: number): number {
    return this.#plot.valToPos(ms / 1000, 'x', true);
  }

  #y(count: number): number {
    return this.#plot.valToPos(count, 'y', true);
  }

  /** The last window, the limit, and the moments at which a counter restarts. */
  #paintBackground(): void {
    if (this.#view === undefined) return;
    const { race, nowMs, fromMs, toMs, theme } = this.#view;
    const { ctx, bbox } = this.#plot;
    const { limit, windowMs } = race.settings;
    ctx.save();
    const [left, right] = [Math.max(bbox.left, this.#x(nowMs - windowMs)), this.#x(nowMs)];
    if (race.shots.length > 0) {
      ctx.fillStyle = theme.future;
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
    }
    ctx.lineWidth = devicePixelRatio;
    ctx.strokeStyle = theme.beyond;
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    line(ctx, bbox.left, this.#y(limit), bbox.left + bbox.width, this.#y(limit));
    ctx.strokeStyle = theme.quiet;
    ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const atMs of race.restarts(this.row, fromMs, toMs)) {
      line(ctx, this.#x(atMs), bbox.top, this.#x(atMs), bbox.top + bbox.height);
    }
    ctx.restore();
  }

  #paintMarks(): void {
    if (this.#view === undefined) return;
    const { theme, nowMs, race } = this.#view;
    const { ctx, bbox } = this.#plot;
    const unit = this.#y(0) - this.#y(1);
    const stack = this.#x(race.settings.windowMs * STACK) - this.#x(0);
    const radius = Math.max(1.5 * devicePixelRatio, Math.min(unit / 2, stack / 2, 5 * devicePixelRatio) * 0.92);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top - radius, bbox.width + radius, bbox.height + 2 * radius);
    ctx.clip();
    ctx.lineWidth = Math.max(1, radius * 0.45);
    for (const { atMs, level, kind } of this.#marks) {
      const [x, y] = [this.#x(atMs), this.#y(level + 0.5)];
      if (x < bbox.left - radius) continue;
      ctx.fillStyle = ctx.strokeStyle = theme[kind];
      ctx.globalAlpha = atMs > nowMs ? 0.45 : 1;
      paintMark(ctx, kind, x, y, radius);
    }
    ctx.restore();
  }
}

function toMarks(race: Race, row: Row, starts: readonly number[]): Mark[] {
  const { limit, windowMs } = race.settings;
  const started = burstsOf(starts, measuredWindow(race, row)).map(({ count, toMs }) => {
    return { atMs: toMs, kind: count > limit ? ('beyond' as const) : ('allowed' as const) };
  });
  const rejected = race.shots.flatMap(({ atMs, delays }) =>
    delays[row] === null ? [{ atMs, kind: 'rejected' as const }] : [],
  );
  const levels = new Map<number, number>();
  return [...started, ...rejected].map((mark) => {
    const stack = Math.floor(mark.atMs / (windowMs * STACK));
    const level = levels.get(stack) ?? 0;
    levels.set(stack, level + 1);
    return { ...mark, level };
  });
}

function paintMark(ctx: CanvasRenderingContext2D, kind: Mark['kind'], x: number, y: number, radius: number): void {
  ctx.beginPath();
  if (kind === 'allowed') {
    ctx.arc(x, y, radius, 0, 2 * Math.PI);
    ctx.fill();
  } else if (kind === 'beyond') {
    ctx.moveTo(x, y - radius);
    ctx.lineTo(x + radius, y + radius);
    ctx.lineTo(x - radius, y + radius);
    ctx.fill();
  } else {
    const half = radius * 0.7;
    ctx.moveTo(x - half, y - half);
    ctx.lineTo(x + half, y + half);
    ctx.moveTo(x + half, y - half);
    ctx.lineTo(x - half, y + half);
    ctx.stroke();
  }
}

function line(ctx: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
}
