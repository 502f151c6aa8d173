import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { PrivateRedis } from './private-redis.js';

const SENDER = `
const { parentPort, workerData: { host, port, replies } } = require('node:worker_threads');
const socket = require('node:net').connect(port, host, () => parentPort.postMessage('connected'));
parentPort.on('message', (command) => socket.write(command + '\\r\\n'));
socket.on('data', () => {
  Atomics.add(replies, 0, 1);
  Atomics.notify(replies, 0);
});
`;

/** Another thread with a connection of its own, which sends commands while this thread is blocked. */
export class CommandThread {
  private constructor(
    private readonly worker: Worker,
    private readonly replies: Int32Array,
  ) {}

  /** Resolves when it is connected, so that a command takes no longer than a round trip. */
  static async start(redis: PrivateRedis): Promise<CommandThread> {
    const { host, port } = redis.server;
    const replies = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(SENDER, { eval: true, workerData: { host, port, replies } });
    redis.beforeStop(() => void worker.terminate());
    await once(worker, 'message');
    return new CommandThread(worker, replies);
  }

  /** Blocks this thread until the reply to a command has come, and for `moreMs` after it. */
  blockUntilReply(command: string, moreMs: number): void {
    const count = this.replies[0]!;
    this.worker.postMessage(command);
    Atomics.wait(this.replies, 0, count);
    Atomics.wait(this.replies, 0, this.replies[0]!, moreMs);
  }
}
