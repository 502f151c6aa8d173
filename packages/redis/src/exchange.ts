import { performance } from 'node:perf_hooks';
import slotOf from 'cluster-key-slot';
import { Batches } from './batches.js';
import { type Connection, runScript } from './client.js';
import { isQuestion, type Operation } from './operations.js';
import { Reply } from './reply.js';
import { toRequest } from './request.js';
import type { Script } from './script.js';

/** Sends operations to Redis, those of one turn of the event loop together, and settles each with what comes back. */
export class Exchange {
  readonly #connection: Connection;
  readonly #script: Script;
  readonly #batches: Batches<Operation>;

  constructor(connection: Connection, script: Script) {
    this.#connection = connection;
    this.#script = script;
    this.#batches = new Batches((operations) =>
      connection.isCluster ? this.#sendBySlot(operations) : this.#send(operations),
    );
  }

  /** Sends the operation when the turn ends. Operations on one key reach Redis in the order in which they were added. */
  add(operation: Operation): void {
    this.#batches.add(operation);
  }

  /** All keys of an operation are in one slot, and a Cluster takes no script with keys of several. */
  async #sendBySlot(operations: readonly Operation[]): Promise<void> {
    const groups = new Map<number, Operation[]>();
    for (const operation of operations) {
      const slot = slotOf(operation.keys[0]!);
      const group = groups.get(slot);
      if (group === undefined) groups.set(slot, [operation]);
      else group.push(operation);
    }
    await Promise.all(Array.from(groups.values(), (group) => this.#send(group)));
  }

  /** Never rejects: whatever goes wrong is the failure of the operations that are not settled yet. */
  async #send(operations: readonly Operation[]): Promise<void> {
    try {
      const { keys, argument } = toRequest(operations);
      const sentMs = performance.now();
      const reply = new Reply(await runScript(this.#connection, this.#script, keys, argument));
      for (const operation of operations) settle(operation, reply, sentMs);
    } catch (error) {
      if (isMoving(error) && operations.length > 1) {
        await Promise.all(operations.map((operation) => this.#send([operation])));
      } else {
        for (const operation of operations) operation.fail(error);
      }
    }
  }
}

function settle(operation: Operation, reply: Reply, sentMs: number): void {
  const error = reply.nextError();
  if (error !== undefined) operation.fail(error);
  else if (isQuestion(operation)) operation.answer(reply.answerTo(operation), sentMs);
  else operation.done();
}

/** While a slot of a Cluster moves, some of its keys are here and some there: then each operation is to go alone. */
function isMoving(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('TRYAGAIN');
}
