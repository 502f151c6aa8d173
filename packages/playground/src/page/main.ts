import { parseSearch, toSearch } from '../link.js';
import {
  ALGORITHMS,
  type Algorithm,
  attackTimes,
  BOUNDS,
  DEFAULT_SETTINGS,
  mostOf,
  ROWS,
  type Row,
  type Settings,
  toSettings,
} from '../race.js';
import { FRAMEWORKS, parseCode, toCode } from './code.js';
import { describeResult, formatSeconds, nameOf } from './describe.js';
import { Lane } from './lane.js';
import { analyze, type CallerKind, LOG_WINDOW_MS, listenForLogs, worstTimes } from './log.js';
import { CHART, copyPicture, drawPicture } from './picture.js';
import { showResponse } from './response.js';
import { Session } from './session.js';
import { followTheme, type Theme } from './theme.js';

const find = <Found extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as Found;

/** Which part of the page an iframe shows. */
const view = document.documentElement.dataset['view'];
const isReduced = matchMedia('(prefers-reduced-motion: reduce)');

/** The windows that the chart shows, and the share of them that is behind "now". */
const [SHOWN, BEHIND] = [2.5, 0.92];
/** The height of a lane, and of one of many. */
const [HEIGHT, LOW] = [172, 116];
/** How often the chart moves with reduced motion, in milliseconds. */
const SLOW_MS = 500;
/** How long the chart of another page shows a finished attack before it repeats it. */
const HOLD_MS = 4000;

let { settings, times, showsAll } = parseSearch(location.search);
let theme: Theme;
let framework = FRAMEWORKS[0]!;
let session = new Session(settings, changed);
let lanes: Lane[] = [];

/** The three rows of the counters. The chart has the same, or all. */
function mainRows(): Row[] {
  if (view === 'chart') return ['express', settings.algorithm];
  return ['express', 'fixed', settings.algorithm === 'fixed' ? 'rolling' : settings.algorithm];
}

/** Deletes all requests. */
function startOver(isLocal?: boolean): void {
  session.stop();
  session = new Session(settings, changed, isLocal);
  changed();
}

function change(next: Settings): void {
  settings = next;
  startOver();
  createRows();
  showSettings();
  setLink([]);
}

function send(): void {
  if (session.planned.length > 0) session.stop();
  session.shoot();
  setLink(session.race.shots.map(({ atMs }) => atMs));
}

/** @param elapsedMs How much of it is over at once. */
function play(planned: readonly number[], elapsedMs = 0): void {
  startOver();
  setLink(planned);
  session.play(planned, elapsedMs);
}

/** Suggests a limit for a log, and shows what it does to the heaviest client. The page decides, because a log has its own times. */
async function suggest(chunks: AsyncIterable<Uint8Array>, by: CallerKind): Promise<readonly string[]> {
  const { facts, limit, timesMs } = await analyze(chunks, by);
  change(toSettings({ ...DEFAULT_SETTINGS, limit: Math.min(limit, BOUNDS.limit[1]), windowMs: LOG_WINDOW_MS }));
  startOver(true);
  const planned = worstTimes(timesMs, LOG_WINDOW_MS);
  setLink(planned);
  session.play(planned, planned.at(-1));
  return facts;
}

/** The address replays the requests. Browsers limit how often it may change. */
let linkTimer: ReturnType<typeof setTimeout> | undefined;
function setLink(replayed: readonly number[]): void {
  times = replayed;
  clearTimeout(linkTimer);
  linkTimer = setTimeout(updateLink, 300);
}

function updateLink(): void {
  if (view === 'chart') return;
  const search = toSearch({ settings, times, showsAll });
  if (search === location.search) return;
  history.replaceState(null, '', `${location.pathname}${search}`);
  dispatchEvent(new Event('urlchange'));
}

/** Creates the counters and the lanes. */
function createRows(): void {
  find('counters').innerHTML = mainRows()
    .map((row) => {
      const isOwn = row === settings.algorithm;
      const name = isOwn ? 'Rollgate' : nameOf(row);
      return `<div class="counter${isOwn ? ' own' : ''}" data-row="${row}"><h2>${name}</h2><output>0</output><p></p></div>`;
    })
    .join('');
  for (const lane of lanes) lane.destroy();
  const height = showsAll || view === 'chart' ? LOW : HEIGHT;
  lanes = (showsAll ? ROWS : mainRows()).map((row) => createLane(row, find('lanes'), height));
  changed();
}

function createLane(row: Row, place: HTMLElement, height: number): Lane {
  const element = document.createElement('div');
  element.className = 'lane';
  element.dataset['row'] = row;
  const name = row === settings.algorithm ? `${nameOf(row)} of Rollgate` : nameOf(row);
  element.innerHTML = `<header><span>${name}</span><output></output></header><div class="plot"></div>`;
  place.append(element);
  return new Lane(row, element, height);
}

function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

let isChanged = true;
function changed(): void {
  isChanged = true;
  requestFrame();
}

let frame: number | undefined;
function requestFrame(): void {
  frame ??= requestAnimationFrame(() => {
    frame = undefined;
    draw();
  });
}

/** Draws the chart, and everything else if a request was decided. Continues while something moves. */
function draw(): void {
  const { race, nowMs, planned, reply, problem } = session;
  const { limit, windowMs } = settings;
  drawLanes(lanes);
  if (isChanged) {
    isChanged = false;
    showCounts();
    setText(find('result'), describeResult(race));
    const degraded = reply?.isDegraded ? 'Redis does not respond, so the memory of this server decides.' : undefined;
    setText(find('problem'), problem ?? degraded ?? '');
    find('problem').hidden = (problem ?? degraded) === undefined;
    setText(find('goal'), String(limit + 1));
  }
  showResponse(find('response'), reply);
  const lastMs = race.shots.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
  if (planned.length === 0 && nowMs > lastMs + SHOWN * windowMs) return;
  if (isReduced.matches) setTimeout(requestFrame, SLOW_MS);
  else requestFrame();
}

function drawLanes(drawn: readonly Lane[]): void {
  const { race, version, nowMs } = session;
  const { windowMs } = settings;
  const shownMs = SHOWN * windowMs;
  const fromMs = Math.max(0, nowMs - BEHIND * shownMs);
  for (const lane of drawn) {
    const { count } = mostOf(race, lane.row);
    lane.draw(
      { race, version, nowMs, theme, fromMs, toMs: fromMs + shownMs },
      `${nameOf(lane.row)}: ${race.shots.filter(({ delays }) => delays[lane.row] !== null).length} of ${race.shots.length} requests allowed, at most ${count} in any ${formatSeconds(windowMs)}`,
    );
  }
}

function showCounts(): void {
  const { race, planned } = session;
  const { limit, windowMs } = settings;
  // A visitor of another page may leave before the end, so its chart gives no verdict until then.
  const isOpen = race.shots.length === 0 || (view === 'chart' && planned.length > 0);
  const period = `in any ${formatSeconds(windowMs)}`;
  for (const element of document.querySelectorAll<HTMLElement>('[data-row]')) {
    const { count } = mostOf(race, element.dataset['row'] as Row);
    const isBeyond = count > limit;
    element.classList.toggle('beyond', isBeyond);
    element.classList.toggle('open', isOpen && !isBeyond);
    const isCounter = element.classList.contains('counter');
    const verdict = isOpen ? '…' : `${count} ${isBeyond ? '✗' : '✓'}`;
    setText(element.querySelector('output')!, isCounter ? String(count) : verdict);
    if (isCounter) setText(element.querySelector('p')!, `allowed ${period}, limit ${limit}`);
    // The worst lane comes first, once the race is over.
    else element.style.order = showsAll && planned.length === 0 ? String(-count) : '';
  }
}

function showSettings(): void {
  find<HTMLSelectElement>('algorithm').value = settings.algorithm;
  find<HTMLInputElement>('limit').value = String(settings.limit);
  find<HTMLInputElement>('window').value = String(settings.windowMs / 1000);
  find<HTMLTextAreaElement>('code').value = toCode(settings, framework);
  setText(find('code-problem'), '');
}

/** Applies what a user has typed, or shows what is wrong with it. */
function applyInput(read: () => Settings, isCode = false): void {
  try {
    const next = read();
    setText(find('code-problem'), '');
    if (JSON.stringify(next) === JSON.stringify(settings)) return;
    const { value, selectionStart } = find<HTMLTextAreaElement>('code');
    change(next);
    if (isCode) {
      find<HTMLTextAreaElement>('code').value = value;
      find<HTMLTextAreaElement>('code').selectionEnd = selectionStart;
    }
  } catch (error) {
    setText(find('code-problem'), (error as Error).message);
  }
}

function addControls(): void {
  find('algorithm').innerHTML = Object.entries(ALGORITHMS)
    .map(([name, text]) => `<option value="${name}">${text}</option>`)
    .join('');
  const readControls = () =>
    toSettings({
      ...settings,
      algorithm: find<HTMLSelectElement>('algorithm').value as Algorithm,
      limit: find<HTMLInputElement>('limit').valueAsNumber,
      windowMs: Math.round(find<HTMLInputElement>('window').valueAsNumber * 1000),
    });
  for (const id of ['algorithm', 'limit', 'window'])
    find(id).addEventListener('change', () => applyInput(readControls));
  find('code').addEventListener('input', () =>
    applyInput(() => parseCode(find<HTMLTextAreaElement>('code').value), true),
  );
  find('frameworks').innerHTML = FRAMEWORKS.map(
    ({ name }, index) =>
      `<label class="framework"><input type="radio" name="framework" value="${index}"${index === 0 ? ' checked' : ''} /><span>${name}</span></label>`,
  ).join('');
  find('frameworks').addEventListener('change', ({ target }) => {
    framework = FRAMEWORKS[Number((target as HTMLInputElement).value)]!;
    showSettings();
  });
  find<HTMLInputElement>('all').checked = showsAll;
  find('all').addEventListener('change', () => {
    showsAll = find<HTMLInputElement>('all').checked;
    createRows();
    setLink(times);
  });
}

function addButtons(): void {
  // A press counts at once, because a click comes only when the button is released.
  find('send').addEventListener('pointerdown', ({ button }) => button === 0 && send());
  // A click without a pointer, such as that of a screen reader, has no detail.
  find('send').addEventListener('click', ({ detail }) => detail === 0 && send());
  find('attack').addEventListener('click', () => play(attackTimes(settings)));
  find('reset').addEventListener('click', () => {
    startOver();
    setLink([]);
  });
  find('copy-link').addEventListener('click', async () => {
    updateLink();
    // A page of another site that embeds this one has the same search.
    const { origin, pathname } = parent === window ? location : parent.location;
    const { search } = location;
    await navigator.clipboard.writeText(
      `${origin === 'null' ? location.href.split('?')[0] : origin + pathname}${search}`,
    );
    confirm('copy-link', 'Copied');
  });
  find('copy-picture').addEventListener('click', async () =>
    confirm('copy-picture', await copyPicture(await createPicture())),
  );
  document.addEventListener('keydown', (event) => {
    const control =
      event.target instanceof Element && event.target.closest('button, input, select, summary, textarea, a');
    if (event.code !== 'Space' || (control && control.id !== 'send')) return;
    event.preventDefault(); // The page does not scroll, and the button does not click, too.
    send();
  });
  document.addEventListener('keyup', (event) => {
    if (event.code === 'Space' && event.target === find('send')) event.preventDefault();
  });
}

function confirm(id: string, text: string): void {
  const before = find(id).dataset['text'] ?? find(id).textContent;
  find(id).dataset['text'] = before;
  setText(find(id), text);
  setTimeout(() => setText(find(id), before), 2000);
}

/** Draws the main rows, on any screen and whichever rows the page shows, with charts of the picture's own size. */
async function createPicture(): Promise<HTMLCanvasElement> {
  const { race } = session;
  const { limit } = settings;
  const place = document.createElement('div');
  place.style.cssText = `position: absolute; right: 100%; width: ${CHART.width}px`;
  document.body.append(place);
  const drawn = mainRows().map((row) => createLane(row, place, CHART.height));
  drawLanes(drawn);
  await Promise.resolve(); // The charts paint themselves in a microtask.
  const rows = drawn.map(({ row, canvas }) => {
    const { count } = mostOf(race, row);
    return { name: row === settings.algorithm ? 'Rollgate' : nameOf(row), count, isBeyond: count > limit, canvas };
  });
  const title = `Try to get ${limit + 1} through a limit of ${limit}`;
  const picture = drawPicture(title, describeResult(race), rows, theme);
  for (const lane of drawn) lane.destroy();
  place.remove();
  return picture;
}

followTheme((next) => {
  theme = next;
  changed();
});
addControls();
addButtons();
listenForLogs(suggest);
createRows();
showSettings();
addEventListener('resize', requestFrame);
if (times.length > 0) play(times);
else if (view === 'chart') {
  const attack = attackTimes(settings);
  const lengthMs = attack.at(-1)!;
  const repeat = () => {
    play(attack);
    setTimeout(repeat, lengthMs + HOLD_MS);
  };
  play(attack, lengthMs);
  setTimeout(repeat, HOLD_MS);
}
