import { Deadlines } from '../../../core/src/failure/call-guard.js';
import { DenialCache } from '../../src/denials/denial-cache.js';
import { lua } from '../../src/script/lua.generated.js';

/** A plausible defect. `plant` adds it, and returns a function that removes it. */
export interface PlantedDefect {
  readonly name: string;
  readonly plant: () => () => void;
  /** The first seed that finds it, by default 1. */
  readonly fromSeed?: number;
  /** The error of the simulation. */
  readonly symptom: RegExp;
}

/** Replaces a method by the result of `make`. */
function patch<Method extends string, Target extends Record<Method, unknown>>(
  target: Target,
  method: Method,
  make: (original: Target[Method]) => Target[Method],
): () => void {
  const original = target[method];
  target[method] = make(original);
  return () => {
    target[method] = original;
  };
}

export const plantedDefects: readonly PlantedDefect[] = [
  {
    name: 'a reply that comes after the deadline is accepted',
    symptom: /^Expected the \w+ of \d+ µs .* to be settled in/,
    plant: () =>
      patch(
        Deadlines.prototype,
        'start',
        (start) =>
          function startWithTwiceTheTime(this: Deadlines, call) {
            start.call(this, call);
            call.dueMs += this.timeoutMs;
          },
      ),
  },
  {
    name: 'a refund that is sent twice refunds twice',
    symptom: /^Expected (the decision of the model|.* to expire when it decides nothing)/,
    plant: () =>
      patch(lua as Record<string, string>, 'changes.lua', (text) =>
        replacePart(text, 'return was_done', () => 'return false'),
      ),
  },
  {
    name: 'a rejection is served from memory after the process recorded or reset',
    fromSeed: 133,
    symptom: /^Served by the denial cache after a/,
    plant: () => patch(DenialCache.prototype, 'invalidate', () => () => {}),
  },
];

function replacePart(text: string, part: string, make: (part: string) => string): string {
  if (!text.includes(part)) throw new Error(`Expected the script to contain ${part}`);
  return text.replace(part, make);
}
