import type { Message } from './call-records.js';
import type { Reply, SimulatedServer } from './simulated-server.js';
import type { Owner, VirtualTime } from './virtual-time.js';

/** The options of {@link SimulatedConnection}. */
export interface ConnectionOptions {
  readonly time: VirtualTime;
  readonly server: SimulatedServer;
  /** The process at the client's end. */
  readonly owner: Owner;
  /** Returns the latency of the next message or reply. */
  readonly latency: () => number;
  readonly onReply: (message: Message, reply: Reply) => void;
}

/** A TCP connection. While it is open, it delivers in order, in both directions. */
export class SimulatedConnection {
  isOpen = true;
  isSilent = false;
  /** Runs instead of the next reply. */
  interceptReply: (() => void) | undefined;
  /** Messages without a reply, in the order in which they were sent. */
  #pending: Message[] = [];
  /** For each message that the server has not received, a function that drops it. */
  #inFlight: (() => void)[] = [];
  #lastArrivalMicros = 0;
  #lastReplyMicros = 0;

  constructor(private readonly options: ConnectionOptions) {}

  send(message: Message): void {
    this.#pending.push(message);
    if (this.isSilent) return;
    const { time, server, latency } = this.options;
    this.#lastArrivalMicros = Math.max(this.#lastArrivalMicros + 1, time.micros + latency());
    const drop = time.at(this.#lastArrivalMicros, 'socket', deliver, NETWORK);
    this.#inFlight.push(drop);
    const reply = (reply: Reply) => this.#reply(message, reply);
    const markReceived = () => this.#inFlight.shift();

    function deliver(): Promise<void> {
      markReceived();
      return server.receive(message, reply);
    }
  }

  /** Closes the connection, and loses all messages in flight but the first `arrivingCount`. Returns those without a reply. */
  close(arrivingCount: number): Message[] {
    this.isOpen = false;
    for (const drop of this.#inFlight.slice(arrivingCount)) drop();
    this.#inFlight.length = Math.min(this.#inFlight.length, arrivingCount);
    return this.#pending.splice(0);
  }

  #reply(message: Message, reply: Reply): void {
    if (!this.isOpen || this.isSilent) return;
    if (this.interceptReply !== undefined) {
      this.interceptReply();
      return;
    }
    const { time, owner, latency } = this.options;
    this.#lastReplyMicros = Math.max(this.#lastReplyMicros + 1, time.micros + latency());
    const deliver = () => {
      if (!this.isOpen || this.isSilent) return;
      this.#pending.shift();
      this.options.onReply(message, reply);
    };
    time.at(this.#lastReplyMicros, 'socket', deliver, owner);
  }
}

/** The owner of the tasks of the network and the server, which no process can pause. */
const NETWORK: Owner = { pausedUntilMicros: 0 };
