import { type RedisConnection, runScript } from '../clients/redis-connection.js';
import { type Operation, planOf } from '../operations/operations.js';
import { encodePeriods } from '../operations/plan-encoder.js';
import { hashTagOf } from '../operations/redis-keys.js';
import { toScriptArguments } from '../script/script-arguments.js';
import type { ScriptBuilder } from '../script/script-builder.js';
import { ScriptReply } from '../script/script-reply.js';
import { groupBy } from '../util/group-by.js';
import { performance } from '../util/platform.js';
import { Batcher } from './batcher.js';
import { MovingHashSlots } from './moving-hash-slots.js';

/** The codes of one reply after the other. Allocating a buffer takes a third of the time for which a short reply is read. */
const replyBuffer = new Uint8Array(16_384);

/** Sends operations to Redis, those of one turn of the event loop together, and settles each with its result. */
export class OperationSender {
  readonly #batcher: Batcher<Operation>;
  readonly #moving = new MovingHashSlots();

  constructor(
    private readonly connection: RedisConnection,
    private readonly scripts: ScriptBuilder,
  ) {
    this.#batcher = new Batcher((operations, onReply) =>
      connection.isCluster ? this.#sendByHashTag(operations, onReply) : this.#send(operations, onReply),
    );
  }

  /**
   * Sends the operation when the turn of the event loop ends.
   *
   * Redis runs the operations of one turn in the order of their `add`, and the turns in order. This requires one connection,
   * and a server that knows the script. A script that reaches its step limit leaves its remaining operations to a later
   * script, which may run after the next turn's.
   */
  add(operation: Operation): void {
    this.#batcher.add(operation);
  }

  /**
   * Sends the operations of each hash tag in a script of their own.
   *
   * A Cluster rejects a script with keys of several hash slots. While a hash slot moves, it also rejects a script if some of
   * its keys have moved.
   */
  async #sendByHashTag(operations: readonly Operation[], onReply: () => void): Promise<void> {
    const groups = groupBy(operations, ({ keys }) => hashTagOf(keys[0]!));
    await Promise.all(
      Array.from(groups, ([hashTag, group]) =>
        this.#moving.has(hashTag) ? this.#sendEach(group, onReply) : this.#send(group, onReply, hashTag),
      ),
    );
  }

  async #sendEach(operations: readonly Operation[], onReply: () => void): Promise<void> {
    await Promise.all(operations.map((operation) => this.#send([operation], onReply)));
  }

  /**
   * Never rejects. An error rejects the operations that are not settled yet, because each may be settled once.
   * `onReply` may be called several times. `attempt` counts how often the periods of a calendar were wrong.
   */
  async #send(operations: readonly Operation[], onReply: () => void, hashTag = '', attempt = 0): Promise<void> {
    let doneCount = operations.length;
    let settledCount = 0;
    const sentAgain: Operation[] = [];
    const inOtherPeriods: Operation[] = [];
    try {
      const { keys, values, parts } = toScriptArguments(operations);
      const sentMs = performance.now();
      const reply = new ScriptReply(
        await runScript(this.connection, this.scripts.get(parts), keys, values),
        operations.length,
        replyBuffer,
      );
      doneCount = reply.length;
      if (doneCount === operations.length) onReply(); // Otherwise the rest goes first.
      for (; settledCount < doneCount; settledCount++) {
        const operation = operations[settledCount]!;
        const error = reply.nextError();
        if (error === undefined) settle(operation, reply, sentMs);
        else if (isReadOnly(error) && operations.length > 1) sentAgain.push(operation);
        else if (hasLostKey(error) && settledCount > 0) sentAgain.push(operation);
        else if (takesOtherPeriods(operation, error, attempt)) inOtherPeriods.push(operation);
        else operation.reject(error);
      }
    } catch (error) {
      if (operations.length > 1 && isRedirection(error)) {
        this.#moving.note(hashTag);
        await this.#sendEach(operations, onReply);
      } else {
        if (operations.length > 1) this.#noteHiddenMove(hashTag, error, operations[0]!.keys[0]!);
        onReply();
        const unsettled = [...sentAgain, ...inOtherPeriods, ...operations.slice(settledCount)];
        for (const operation of unsettled) operation.reject(error);
      }
      return;
    }
    if (doneCount < operations.length) await this.#send(operations.slice(doneCount), onReply, hashTag);
    // Without the others, the whole call of a read-only server fails, by which a client detects a failover. A call for lost keys is
    // redirected to the node that may create them.
    if (sentAgain.length > 0) await this.#send(sentAgain, onReply, hashTag);
    if (inOtherPeriods.length > 0) await this.#send(inOtherPeriods, onReply, hashTag, attempt + 1);
  }

  async #noteHiddenMove(hashTag: string, error: unknown, key: string): Promise<void> {
    if (await this.connection.hidesMove?.(error, key)) this.#moving.note(hashTag);
  }
}

/** Whether the server rejected an operation because it accepts no writes. It has changed nothing then. */
function isReadOnly({ message }: Error): boolean {
  return message.includes('READONLY');
}

/** Settles an operation that has not failed. If the state of its key is damaged, its figures may be impossible. That fails no other. */
function settle(operation: Operation, reply: ScriptReply, sentMs: number): void {
  try {
    if (operation.kind === 'count') operation.resolve(reply.readCount());
    else if (operation.kind === 'renew') operation.resolve(reply.readLostIndices(operation));
    else if (operation.kind === 'ticket') operation.resolve(reply.readLine(), sentMs);
    else if (operation.kind === 'settle' || operation.kind === 'reset') {
      reply.readNoResult();
      operation.resolve();
    } else if (operation.kind === 'check' && operation.queueCount && reply.isEmptyLine) {
      reply.readNoResult();
      operation.onQueued!();
    } else operation.resolve(reply.readResult(operation), sentMs);
  } catch (error) {
    operation.reject(error);
    reply.readLine();
  }
}

/**
 * How often an operation is sent at most with other periods. Once is enough unless the server's time changes by more than a
 * period until then.
 */
const MAX_ATTEMPTS = 3;

/** Whether to send the operation again with the periods of the time at which it failed. It has changed nothing then. */
function takesOtherPeriods(operation: Operation, error: Error, attempt: number): boolean {
  const [, micros] = /^(?:ERR )?Expected the period of (-?\d+)/.exec(error.message) ?? [];
  const encodedPlan = planOf(operation);
  if (micros === undefined || encodedPlan === undefined || attempt >= MAX_ATTEMPTS) return false;
  encodePeriods(encodedPlan, Number(micros));
  return true;
}

/** Whether a Cluster redirected the script because a hash slot moves, or its client gave up after too many redirections. */
function isRedirection(error: unknown): boolean {
  return error instanceof Error && /^(TRYAGAIN|ASK|MOVED|Too many Cluster redirections)/.test(error.message);
}

/**
 * Whether an operation failed because an earlier one of its script has deleted a key whose hash slot moves. The node cannot
 * create the key again, and rejects the first command that uses it. So the operation has changed nothing.
 */
function hasLostKey({ message }: Error): boolean {
  return message.includes('non local key');
}
