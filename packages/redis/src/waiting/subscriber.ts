import { hasMethods, invalidOption } from '@rollgate/core/store';

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
const [IS_COUNTED, MAY_BE_ELSEWHERE] = [1, 2];

/** Receives the messages of one owner of tickets. */
export class Subscriber {
  readonly #client: Receiver;
  readonly #isIoredis: boolean;
  /** How the owner gets messages, as `lua/queues/tickets.lua` describes it. */
  readonly contact: number;
  #isListening = false;
  #isSubscribed = false;

  /** @throws TypeError if the client is of another kind. */
  constructor(client: unknown) {
    this.#isIoredis = typeof (client as SubscriberClient | undefined)?.status === 'string';
    const isNodeRedis = typeof (client as SubscriberClient | undefined)?.isReady === 'boolean' || isCluster(client);
    if (!hasMethods(client, ['subscribe', 'on']) || !(this.#isIoredis || isNodeRedis)) {
      throw invalidOption('waiting.subscriber', 'a client of ioredis, iovalkey or node-redis', client);
    }
    this.#client = client as unknown as Receiver;
    this.contact = isCluster(client) ? MAY_BE_ELSEWHERE : IS_COUNTED;
  }

  /** Whether messages arrive now. */
  get isReady(): boolean {
    const { status, isReady } = this.#client;
    return this.#isSubscribed && (this.#isIoredis ? status === 'ready' : isReady !== false);
  }

  /** Subscribes once. `onReady` is called when messages arrive, and again when some may be lost. */
  listen(owner: string, onMessage: (text: string) => void, onReady: () => void): void {
    if (this.#isListening) return;
    this.#isListening = true;
    const channel = `rollgate:${owner}`;
    const listener = (text: string) => onMessage(text);
    if (this.#isIoredis) {
      this.#client.on('message', ((from: string, text: string) => {
        if (from === channel) onMessage(text);
      }) as (...values: never[]) => void);
    }
    // After a new connection, the client subscribes again before it sends anything else.
    this.#client.on('ready', () => {
      if (this.#isSubscribed) onReady();
    });
    const subscribed = this.#isIoredis ? this.#client.subscribe(channel) : this.#client.subscribe(channel, listener);
    subscribed.then(
      () => {
        this.#isSubscribed = true;
        onReady();
      },
      () => {
        this.#isListening = false; // The next call of `wait` tries again.
      },
    );
  }
}

function isCluster(client: unknown): boolean {
  const { isCluster: isIoredisCluster, slots } = (client ?? {}) as SubscriberClient;
  return isIoredisCluster === true || slots !== undefined;
}
