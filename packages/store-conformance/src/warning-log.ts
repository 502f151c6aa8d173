import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Decision } from '@rollgate/core';
import { type UsageWarning, usageWarnings } from '@rollgate/core/observe';

/** A limit of which a check has used so much that it crossed the threshold. */
interface Crossing {
  readonly limit: string;
  readonly used: number;
}

/** Collects the warnings about nearly used up quotas, until it is closed. */
export class WarningLog {
  readonly #warnAt: number;
  #heard: Crossing[] = [];
  readonly #note = (event: unknown): void => {
    const { limit, used } = event as UsageWarning;
    this.#heard.push({ limit, used });
  };
  readonly #end: () => void;

  constructor(warnAt: number) {
    this.#warnAt = warnAt;
    subscribe('rollgate:threshold', this.#note);
    this.#end = usageWarnings({ warnAt });
  }

  /** Returns the warnings since the last call, and forgets them. */
  take(): Crossing[] {
    const heard = this.#heard;
    this.#heard = [];
    return heard;
  }

  /** The crossings of an allowed check, by what a model has counted before it and after it. */
  expected({ limits }: Decision, before: Decision, after: Decision): Crossing[] {
    return Object.entries(limits).flatMap(([limit, { allowed }]) => {
      const [shareBefore, share] = [before, after].map((one) => usedOf(one, limit) / one.limits[limit]!.limit);
      if (!allowed || shareBefore! >= this.#warnAt || !(share! >= this.#warnAt)) return [];
      return [{ limit, used: usedOf(after, limit) }];
    });
  }

  close(): void {
    this.#end();
    unsubscribe('rollgate:threshold', this.#note);
  }
}

function usedOf({ limits }: Decision, name: string): number {
  const { limit, remaining } = limits[name]!;
  return limit - remaining;
}
