import type { CallerChoices } from './caller-choices.js';
import type { ModelReceiver } from './model-receiver.js';
import { type Choice, ENDED } from './model-state.js';
import { processOf, type Scope } from './scope.js';

/** What may happen to callers and their messages. */
export class FaultChoices {
  constructor(
    private readonly scope: Scope,
    private readonly callers: CallerChoices,
    private readonly receiver: ModelReceiver,
  ) {}

  /** The reply to an arrival is lost. */
  enterUnanswered(index: number): Choice {
    return {
      ...this.callers.enter(index),
      apply: (state, outcome) => {
        state.lostReplies -= 1;
        Object.assign(state.callers[index]!, { status: 'waits', resends: true });
        this.receiver.receive(state, undefined, outcome!);
      },
    };
  }

  failToLeave(index: number): Choice {
    return {
      apply: (state) => {
        state.failedLeaves -= 1;
        Object.assign(state.callers[index]!, { status: 'started', ...ENDED, owesLeave: true });
      },
    };
  }

  /** The process of a caller ends. */
  crash(index: number): Choice {
    return {
      apply: (state) => {
        state.crashes -= 1;
        const gone = { status: 'gone', ...ENDED, owesLeave: false, resends: false };
        const isOfProcess = (other: number) => processOf(this.scope, other) === processOf(this.scope, index);
        for (const [other, caller] of state.callers.entries()) if (isOfProcess(other)) Object.assign(caller, gone);
        state.unused = state.unused.filter(([other]) => !isOfProcess(other));
      },
    };
  }

  deliver(place: number): Choice {
    return {
      apply: (state) => {
        const [[, text]] = state.messages.splice(place, 1) as [[number, string]];
        this.receiver.accept(state, text);
      },
    };
  }

  deliverTwice(place: number): Choice {
    return {
      apply: (state) => {
        state.repeatedMessages -= 1;
        this.receiver.accept(state, state.messages[place]![1]);
      },
    };
  }

  lose(place: number): Choice {
    return { apply: ({ messages }) => void messages.splice(place, 1) };
  }
}
