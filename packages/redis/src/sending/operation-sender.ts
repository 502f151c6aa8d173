import { performance } from '../base/platform.js';
import { type RedisConnection, runScript } from '../clients/redis-connection.js';
import { isDecisionOperation, type Operation } from '../operations/operations.js';
import { hashTagOf } from '../operations/redis-keys.js';
import type { ScriptBuilder } from '../script/script-builder.js';
import { ScriptReply } from '../script/script-reply.js';
import { toScriptRequest } from '../script/script-request.js';
import { Batcher } from './batcher.js';

/** For how long operations on a slot of a Cluster are sent separately after the slot was seen to move. */
const MOVING_FOR_MS = 10_000;
const MAX_MOVING_TAGS = 1000;

/** Sends operations to Redis, those of one turn of the event loop together, and settles each with its result. */
export class OperationSender {
  readonly #connection: RedisConnection;
  readonly #scripts: ScriptBuilder;
  readonly #batcher: Batcher<Operation>;
  /** The hash tags of keys whose slot was seen to move, each with the time until which it counts as moving. */
  readonly #movingUntilMs = new Map<string, number>();

  constructor(connection: RedisConnection, scripts: ScriptBuilder) {
    this.#connection = connection;
    this.#scripts = scripts;
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
   * A Cluster rejects a script with keys of several slots. While a slot moves, it also rejects a script if some of its keys
   * have moved.
   */
  async #sendByHashTag(operations: readonly Operation[], onReply: () => void): Promise<void> {
    const groups = new Map<string, Operation[]>();
    for (const operation of operations) {
      const tag = hashTagOf(operation.keys[0]!);
      const group = groups.get(tag);
      if (group === undefined) groups.set(tag, [operation]);
      else group.push(operation);
    }
    await Promise.all(
      Array.from(groups, ([tag, group]) =>
        this.#isMoving(tag) ? this.#sendEach(group, onReply) : this.#send(group, onReply, tag),
      ),
    );
  }

  async #sendEach(operations: readonly Operation[], onReply: () => void): Promise<void> {
    await Promise.all(operations.map((operation) => this.#send([operation], onReply)));
  }

  /**
   * Never rejects. An error rejects the operations that are not settled yet, because each may be settled once.
   * `onReply` may be called several times.
   */
  async #send(operations: readonly Operation[], onReply: () => void, tag = ''): Promise<void> {
    let doneCount = operations.length;
    let settledCount = 0;
    try {
      const { keys, values, parts } = toScriptRequest(operations, this.#scripts.hasUsualCheck);
      const sentMs = performance.now();
      const reply = new ScriptReply(
        await runScript(this.#connection, this.#scripts.get(parts), keys, values),
        operations.length,
      );
      doneCount = reply.length;
      if (doneCount === operations.length) onReply(); // Otherwise the rest goes first.
      for (; settledCount < doneCount; settledCount++) settle(operations[settledCount]!, reply, sentMs);
    } catch (error) {
      const isRedirected = isRedirection(error);
      if (operations.length > 1 && isRedirected) {
        this.#noteMove(tag);
        await this.#sendEach(operations, onReply);
      } else {
        if (operations.length > 1) this.#noteHiddenMove(tag, error, operations[0]!.keys[0]!);
        onReply();
        for (const operation of operations.slice(settledCount)) operation.reject(error);
      }
      return;
    }
    if (doneCount < operations.length) await this.#send(operations.slice(doneCount), onReply, tag);
  }

  #noteMove(tag: string): void {
    if (this.#movingUntilMs.size >= MAX_MOVING_TAGS) this.#movingUntilMs.clear();
    this.#movingUntilMs.set(tag, performance.now() + MOVING_FOR_MS);
  }

  async #noteHiddenMove(tag: string, error: unknown, key: string): Promise<void> {
    if (await this.#connection.hidesMove?.(error, key)) this.#noteMove(tag);
  }

  #isMoving(tag: string): boolean {
    const untilMs = this.#movingUntilMs.get(tag);
    if (untilMs === undefined) return false;
    if (performance.now() < untilMs) return true;
    this.#movingUntilMs.delete(tag);
    return false;
  }
}

function settle(operation: Operation, reply: ScriptReply, sentMs: number): void {
  const error = reply.nextError();
  if (error !== undefined) operation.reject(error);
  else if (isDecisionOperation(operation)) operation.resolve(reply.readResult(operation), sentMs);
  else if (operation.kind === 'count') operation.resolve(reply.readCount());
  else if (operation.kind === 'renew') operation.resolve(reply.readLostIndices(operation));
  else {
    reply.readNoResult();
    operation.resolve();
  }
}

/** Whether a Cluster redirected the script because a slot moves, or its client gave up after too many redirections. */
function isRedirection(error: unknown): boolean {
  return error instanceof Error && /^(TRYAGAIN|ASK|MOVED|Too many Cluster redirections)/.test(error.message);
}
