import { performance } from 'node:perf_hooks';
import { Batcher } from './batcher.js';
import { isCheckOperation, type Operation } from './operations.js';
import { type RedisConnection, runScript } from './redis-connection.js';
import type { ScriptBuilder } from './script-builder.js';
import { ScriptReply } from './script-reply.js';
import { toScriptRequest } from './script-request.js';

/** For how long operations on a slot of a Cluster that was seen to move go alone. */
const MOVING_FOR_MS = 10_000;
const MOST_MOVING = 1000;

/** Sends operations to Redis, those of one turn of the event loop together, and settles each with what comes back. */
export class OperationSender {
  readonly #connection: RedisConnection;
  readonly #scripts: ScriptBuilder;
  readonly #batcher: Batcher<Operation>;
  /** Of keys whose slot was seen to move, what says where they live. */
  readonly #movingUntilMs = new Map<string, number>();

  constructor(connection: RedisConnection, scripts: ScriptBuilder) {
    this.#connection = connection;
    this.#scripts = scripts;
    this.#batcher = new Batcher((operations) =>
      connection.isCluster ? this.#sendByTag(operations) : this.#send(operations),
    );
  }

  /**
   * Sends the operation when the turn ends. Those of one turn are decided in the order in which they were added, and so are
   * turns, as long as they go over one connection to a server that knows the script. A script that has done much work leaves
   * the rest of its operations to a later one, which may come after the next turn.
   */
  add(operation: Operation): void {
    this.#batcher.add(operation);
  }

  /**
   * A Cluster takes no script with keys of several slots; and while a slot moves, none with keys of which some have moved.
   * So what goes together has one text in braces: it is of one caller, or of a limiter whose keys all live together.
   */
  async #sendByTag(operations: readonly Operation[]): Promise<void> {
    const groups = new Map<string, Operation[]>();
    for (const operation of operations) {
      const tag = tagOf(operation.keys[0]!);
      const group = groups.get(tag);
      if (group === undefined) groups.set(tag, [operation]);
      else group.push(operation);
    }
    await Promise.all(
      Array.from(groups, ([tag, group]) => (this.#isMoving(tag) ? this.#sendEach(group) : this.#send(group, tag))),
    );
  }

  async #sendEach(operations: readonly Operation[]): Promise<void> {
    await Promise.all(operations.map((operation) => this.#send([operation])));
  }

  /** Never rejects: whatever goes wrong is the failure of the operations that are not settled yet. */
  async #send(operations: readonly Operation[], tag = ''): Promise<void> {
    let doneCount = operations.length;
    try {
      const { keys, argument, parts } = toScriptRequest(operations);
      const sentMs = performance.now();
      const reply = new ScriptReply(await runScript(this.#connection, this.#scripts.with(parts), keys, argument));
      doneCount = reply.length;
      for (let index = 0; index < doneCount; index++) settle(operations[index]!, reply, sentMs);
    } catch (error) {
      if (operations.length > 1 && isRedirection(error)) {
        if (this.#movingUntilMs.size >= MOST_MOVING) this.#movingUntilMs.clear();
        this.#movingUntilMs.set(tag, performance.now() + MOVING_FOR_MS);
        await this.#sendEach(operations);
      } else {
        for (const operation of operations) operation.fail(error);
      }
      return;
    }
    if (doneCount < operations.length) await this.#send(operations.slice(doneCount), tag);
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
  if (error !== undefined) operation.fail(error);
  else if (isCheckOperation(operation)) operation.answer(reply.answerTo(operation), sentMs);
  else if (operation.kind === 'count') operation.answer(reply.counted);
  else operation.done();
}

/** What a Cluster says while a slot moves, or its client when it has been told so too often. */
function isRedirection(error: unknown): boolean {
  return error instanceof Error && /^(TRYAGAIN|ASK|MOVED|Too many Cluster redirections)/.test(error.message);
}

/** The key up to the end of the text in braces, which says where it lives. */
function tagOf(key: string): string {
  return key.slice(0, key.indexOf('}'));
}
