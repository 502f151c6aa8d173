import type { Operation } from '../../src/operations/operations.js';
import type { ModelOperations } from './model-operations.js';
import type { ModelReceiver } from './model-receiver.js';
import type { Choice, ModelState } from './model-state.js';
import type { Scope } from './scope.js';

/** Plain checks of one unit of each limit. */
export class CheckChoices {
  readonly #scope: Scope;
  readonly #operations: ModelOperations;
  readonly #receiver: ModelReceiver;

  constructor(scope: Scope, operations: ModelOperations, receiver: ModelReceiver) {
    this.#scope = scope;
    this.#operations = operations;
    this.#receiver = receiver;
  }

  choices({ checks, heldChecks, overtakingChecks }: ModelState): Choice[] {
    const choices: Choice[] = [];
    if (checks > 0) choices.push(this.#check('checks', this.#operations.checkIfEmpty()));
    if (heldChecks > 0) choices.push(this.#check('heldChecks', this.#operations.checkBehind()));
    if (overtakingChecks > 0) choices.push(this.#check('overtakingChecks', this.#operations.overtakingCheck()));
    return choices;
  }

  #check(counter: 'checks' | 'heldChecks' | 'overtakingChecks', operation: Operation): Choice {
    return {
      operations: [operation],
      apply: (state, outcome) => {
        state[counter] -= 1;
        this.#receiver.receive(state, undefined, outcome!);
        const line = outcome!.reply.split('\n')[1]!;
        if (line === '') state.heldChecks += 1;
        else if (isAllowed(line)) {
          if (counter !== 'overtakingChecks') this.#expectNobodyBefore(state);
          state.starts.push([state.tick, this.#operations.keys.map(() => 1)]);
        }
      },
    };
  }

  #expectNobodyBefore({ callers, messages, isReordered }: ModelState): void {
    if (this.#scope.hasFaults || isReordered || messages.length > 0) return;
    const isBehind = callers.some(({ status, number }) => status === 'waits' && number > 0);
    if (isBehind) this.#receiver.problem ??= 'a check overtook a caller';
  }
}

/** Whether no rule rejects, by the results in a line of a reply. */
function isAllowed(line: string): boolean {
  return !line.startsWith('-') && !/(^|,)-|^0 0 \d+ \d+ \d+(,|$)/.test(line);
}
