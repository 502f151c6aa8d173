import { performance } from 'node:perf_hooks';
import slotOf from 'cluster-key-slot';
import { Batches } from './batches.js';
import { type Connection, runScript } from './client.js';
import { isQuestion, type Operation } from './operations.js';
import { Reply } from './reply.js';
import { toRequest } from './request.js';
import type { Script } from './script.js';

/** For how long operations on a slot that was seen to move go alone. */
const MOVING_FOR_MS = 10_000;

/** Sends operations to Redis, those of one turn of the event loop together, and settles each with what comes back. */
export class Exchange {
  readonly #connection: Connection;
  readonly #script: Script;
  readonly #batches: Batches<Operation>;
  /** Slots of a Cluster that are on their way: some of their keys are here and some there, and no script can use both. */
  readonly #movingUntilMs = new Map<number, number>();

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
    await Promise.all(
      Array.from(groups, ([slot, group]) => (this.#isMoving(slot) ? this.#sendEach(group) : this.#send(group, slot))),
    );
  }

  async #sendEach(operations: readonly Operation[]): Promise<void> {
    await Promise.all(operations.map((operation) => this.#send([operation])));
  }

  /** Never rejects: whatever goes wrong is the failure of the operations that are not settled yet. */
  async #send(operations: readonly Operation[], slot = 0): Promise<void> {
    try {
      const { keys, argument } = toRequest(operations);
      const sentMs = performance.now();
      const reply = new Reply(await runScript(this.#connection, this.#script, keys, argument));
      for (const operation of operations) settle(operation, reply, sentMs);
    } catch (error) {
      if (operations.length > 1 && isRedirection(error)) {
        this.#movingUntilMs.set(slot, performance.now() + MOVING_FOR_MS);
        await this.#sendEach(operations);
      } else {
        for (const operation of operations) operation.fail(error);
      }
    }
  }

  #isMoving(slot: number): boolean {
    const untilMs = this.#movingUntilMs.get(slot);
    if (untilMs === undefined) return false;
    if (performance.now() < untilMs) return true;
    this.#movingUntilMs.delete(slot);
    return false;
  }
}

function settle(operation: Operation, reply: Reply, sentMs: number): void {
  const error = reply.nextError();
  if (error !== undefined) operation.fail(error);
  else if (isQuestion(operation)) operation.answer(reply.answerTo(operation), sentMs);
  else operation.done();
}

/** What a Cluster says while a slot moves, or its client when it has been told so too often. */
function isRedirection(error: unknown): boolean {
  return error instanceof Error && /^(TRYAGAIN|ASK|MOVED|Too many Cluster redirections)/.test(error.message);
}
