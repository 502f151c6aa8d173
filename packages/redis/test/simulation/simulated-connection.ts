import type { Message } from './call-records.js';
import type { Reply, SimulatedServer } from './simulated-server.js';
import type { Owner, VirtualTime } from './virtual-time.js';

/** What a connection is given. */
export interface ConnectionOptions {
  readonly time: VirtualTime;
  readonly server: SimulatedServer;
  /** The process at the client's end. */
  readonly owner: Owner;
  /** How long the next message or reply is under way. */
  readonly latency: () => number;
  readonly onReply: (message: Message, reply: Reply) => void;
}

/** A TCP connection. While it is open, it delivers in order, both ways. */
export class SimulatedConnection {
  isOpen = true;
  isSilent = false;
  /** Runs instead of the next reply. */
  interceptReply: (() => void) | undefined;
  readonly #options: ConnectionOptions;
  /** Messages without a reply, in the order in which they were sent. */
  #pending: Message[] = [];
  /** One function for each message that the server has not received. It loses the message. */
  #underWay: (() => void)[] = [];
  #lastArrivalMicros = 0;
  #lastReplyMicros = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  send(message: Message): void {
    this.#pending.push(message);
    if (this.isSilent) return;
    const { time, server, latency } = this.#options;
    this.#lastArrivalMicros = Math.max(this.#lastArrivalMicros + 1, time.micros + latency());
    const lose = time.at(this.#lastArrivalMicros, 'socket', arrive, NETWORK);
    this.#underWay.push(lose);
    const reply = (reply: Reply) => this.#reply(message, reply);
    const received = () => this.#underWay.shift();

    function arrive(): Promise<void> {
      received();
      return server.receive(message, reply);
    }
  }

  /** Closes the connection, and loses all messages under way but the first `arrivingCount`. Returns those without a reply. */
  close(arrivingCount: number): Message[] {
    this.isOpen = false;
    for (const lose of this.#underWay.slice(arrivingCount)) lose();
    this.#underWay.length = Math.min(this.#underWay.length, arrivingCount);
    return this.#pending.splice(0);
  }

  #reply(message: Message, reply: Reply): void {
    if (!this.isOpen || this.isSilent) return;
    if (this.interceptReply !== undefined) {
      this.interceptReply();
      return;
    }
    const { time, owner, latency } = this.#options;
    this.#lastReplyMicros = Math.max(this.#lastReplyMicros + 1, time.micros + latency());
    const arrive = () => {
      if (!this.isOpen || this.isSilent) return;
      this.#pending.shift();
      this.#options.onReply(message, reply);
    };
    time.at(this.#lastReplyMicros, 'socket', arrive, owner);
  }
}

/** The owner of what the network and the server do, which no process can pause. */
const NETWORK: Owner = { pausedUntilMicros: 0 };
