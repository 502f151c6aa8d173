import type { Message } from './records.js';
import type { Reply, SimulatedServer } from './simulated-server.js';
import type { Owner, VirtualTime } from './virtual-time.js';

/** What a connection is given. */
export interface ConnectionOptions {
  readonly time: VirtualTime;
  readonly server: SimulatedServer;
  /** Of the client's end. */
  readonly owner: Owner;
  /** How long the next message or reply is under way. */
  readonly latency: () => number;
  readonly answer: (message: Message, reply: Reply) => void;
}

/** One TCP connection: what is sent arrives in its order, both ways, as long as it is open. */
export class SimulatedConnection {
  isOpen = true;
  isSilent = false;
  /** What happens in place of the next reply. */
  onReply: (() => void) | undefined;
  readonly #options: ConnectionOptions;
  /** In the order in which they were sent. */
  #unanswered: Message[] = [];
  /** Those of them that the server has not received, and how to lose each. */
  #underWay: (() => void)[] = [];
  #lastArrivalMicros = 0;
  #lastReplyMicros = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  send(message: Message): void {
    this.#unanswered.push(message);
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

  /** Closes it, and loses what is under way but for so many messages. Returns those without a reply. */
  close(arrivingCount: number): Message[] {
    this.isOpen = false;
    for (const lose of this.#underWay.slice(arrivingCount)) lose();
    this.#underWay.length = Math.min(this.#underWay.length, arrivingCount);
    return this.#unanswered.splice(0);
  }

  #reply(message: Message, reply: Reply): void {
    if (!this.isOpen || this.isSilent) return;
    if (this.onReply !== undefined) {
      this.onReply();
      return;
    }
    const { time, owner, latency } = this.#options;
    this.#lastReplyMicros = Math.max(this.#lastReplyMicros + 1, time.micros + latency());
    const arrive = () => {
      if (!this.isOpen || this.isSilent) return;
      this.#unanswered.shift();
      this.#options.answer(message, reply);
    };
    time.at(this.#lastReplyMicros, 'socket', arrive, owner);
  }
}

/** What the network and the server do, no process can pause. */
const NETWORK: Owner = { pausedUntilMicros: 0 };
