import { getOrInsert, hasMethods, invalidOption } from '@rollgate/core/store';

/** What the store uses of an ioredis, iovalkey or node-redis client that receives messages. */
export interface SubscriberClient {
  /** The state of the connection of an ioredis client, such as `ready`. */
  readonly status?: string;
  /** Whether a node-redis client can receive messages now. */
  readonly isReady?: boolean;
  /** Whether this is a `Cluster` of ioredis. */
  readonly isCluster?: boolean;
  /** Only a cluster of node-redis has slots. */
  readonly slots?: unknown;
  /** Subscribes to a channel. node-redis passes the messages to a listener, and ioredis emits them. */
  readonly subscribe: unknown;
  /** Adds a listener of an event. */
  readonly on: unknown;
}

/** What both kinds of clients accept. */
interface Receiver extends SubscriberClient {
  subscribe(channel: string, listener?: (message: string) => void): Promise<unknown>;
  on(event: string, listener: (...values: never[]) => void): unknown;
}

/** A server counts who receives the messages on its connections, but not on those of other nodes. */
const [COUNTED, ELSEWHERE] = [1, 2];

/** How one store receives its messages. */
interface Listening {
  readonly onMessage: (text: string) => void;
  readonly onReady: () => void;
  /** A failed attempt is repeated. */
  state: 'new' | 'subscribing' | 'subscribed';
}

/** Receives the messages of the owners of tickets: one owner for each store that uses the client. */
export class Subscriber {
  readonly #client: Receiver;
  readonly #isIoredis: boolean;
  /** How an owner gets messages, as `lua/queues/tickets.lua` describes it. */
  readonly contact: number;
  /** By their channels. */
  readonly #listening = new Map<string, Listening>();

  /** @throws TypeError if the client is of another kind. */
  constructor(client: unknown) {
    this.#isIoredis = typeof (client as SubscriberClient | undefined)?.status === 'string';
    const isNodeRedis = typeof (client as SubscriberClient | undefined)?.isReady === 'boolean' || isCluster(client);
    if (!hasMethods(client, ['subscribe', 'on']) || !(this.#isIoredis || isNodeRedis)) {
      throw invalidOption('waiting.subscriber', 'a client of ioredis, iovalkey or node-redis', client);
    }
    this.#client = client as unknown as Receiver;
    this.contact = isCluster(client) ? ELSEWHERE : COUNTED;
  }

  /** Whether the messages of an owner arrive now. */
  isReady(owner: string): boolean {
    if (this.#listening.get(channelOf(owner))?.state !== 'subscribed') return false;
    const { status, isReady } = this.#client;
    return this.#isIoredis ? status === 'ready' : isReady !== false;
  }

  /** Subscribes once. `onReady` is called when messages arrive, and again when some may be lost. */
  listen(owner: string, onMessage: (text: string) => void, onReady: () => void): void {
    const channel = channelOf(owner);
    if (this.#listening.size === 0) this.#addListeners();
    const listening = getOrInsert(this.#listening, channel, (): Listening => ({ onMessage, onReady, state: 'new' }));
    if (listening.state !== 'new') return;
    listening.state = 'subscribing';
    // node-redis has a listener only once, however often it is passed.
    const subscribed = this.#isIoredis
      ? this.#client.subscribe(channel)
      : this.#client.subscribe(channel, listening.onMessage);
    subscribed.then(
      () => {
        listening.state = 'subscribed';
        listening.onReady();
      },
      () => {
        listening.state = 'new'; // The next call of `wait` tries again.
      },
    );
  }

  #addListeners(): void {
    if (this.#isIoredis) {
      this.#client.on('message', ((channel: string, text: string) => {
        this.#listening.get(channel)?.onMessage(text);
      }) as (...values: never[]) => void);
    }
    // After a new connection, the client subscribes again before it sends anything else.
    this.#client.on('ready', () => {
      for (const { state, onReady } of this.#listening.values()) if (state === 'subscribed') onReady();
    });
  }
}

function channelOf(owner: string): string {
  return `rollgate:${owner}`;
}

function isCluster(client: unknown): boolean {
  const { isCluster: isIoredisCluster, slots } = (client ?? {}) as SubscriberClient;
  return isIoredisCluster === true || slots !== undefined;
}
