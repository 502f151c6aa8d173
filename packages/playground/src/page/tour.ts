import type { RunState } from '../shared/protocol.js';
import { SCENARIOS, type Scenario } from '../shared/settings.js';
import { element, setText } from './elements.js';
import { formatCount, formatSeconds } from './format.js';
import type { Model } from './model.js';

/** The scenes that show what a window is, in order. */
export const TOUR: readonly Scenario[] = ['fill', 'boundary', 'roll'];

const caption = element('#caption');
const INTRODUCTION = caption.textContent ?? '';
const scenes = element('#scenes');

/** The three scenes above the chart, with a caption for the one that runs. */
export class Tour {
  readonly #model: Model;

  /** @param run Called when the user chooses a scene. */
  constructor(model: Model, run: (scenario: Scenario) => void) {
    this.#model = model;
    scenes.replaceChildren(
      ...TOUR.map((scenario, index) => {
        const button = document.createElement('button');
        button.type = 'button';
        button.dataset.scene = scenario;
        button.textContent = `${index + 1}. ${SCENARIOS[scenario]}`;
        button.addEventListener('click', () => run(scenario));
        return button;
      }),
    );
  }

  show(): void {
    const { run } = this.#model;
    for (const button of scenes.children as Iterable<Element> & HTMLCollection) {
      const isCurrent = (button as HTMLElement).dataset.scene === run?.scenario;
      button.setAttribute('aria-pressed', String(isCurrent));
    }
    setText(caption, run === undefined ? INTRODUCTION : describe(run));
  }
}

/** Describes what to look at, in words for readers who do not know what a window is. */
function describe({ scenario, settings: { limit, windowMs } }: RunState): string {
  switch (scenario) {
    case 'fill':
      return `The limit is ${formatCount(limit, 'request')} in ${formatSeconds(windowMs)}. The first ${limit} are allowed, the rest will be rejected.`;
    case 'boundary':
      return `All limits start over. Around the restart of its counter, the fixed window will allow up to ${2 * limit}.`;
    case 'roll':
      return 'All limits start over. Each request that leaves the shaded window makes room for a new one.';
    case 'first':
      return `This fixed window restarts with a request. Around the restart, it allows up to ${2 * limit - 1}.`;
    default:
      return 'Your turn. Click the chart, or hold the space bar, to send requests.';
  }
}
