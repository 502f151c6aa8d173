import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { HOST } from './free-port.js';

/** The two sockets of a connection through the proxy. */
interface Pair {
  readonly sides: readonly [client: Socket, server: Socket];
  /** Whether the proxy dropped some bytes, or the end of the connection. */
  hasDropped: boolean;
}

/**
 * How connections fail: the system refuses new ones, they end at once, their first reply ends in the middle, or new ones never get a
 * byte.
 */
export type Failure = 'refuses' | 'ends' | 'endsInReply' | 'isSilent';

/** A TCP proxy on 127.0.0.1 that simulates a bad network. It can delay bytes, drop them and close connections. */
export class FaultyProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #delayMs = 0;
  #isFrozen = false;
  #dropsReplies = false;
  #targetPort: number;
  #stopped: Promise<void> | undefined;
  #failure: Failure | undefined;
  /** Connections that get no byte. */
  readonly #silent = new Set<Socket>();

  private constructor(server: Server, targetPort: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.#targetPort = targetPort;
    server.on('connection', (client) => this.#accept(client));
  }

  static async start(targetPort: number): Promise<FaultyProxy> {
    const server = createServer().listen(0, HOST);
    await once(server, 'listening');
    return new FaultyProxy(server, targetPort);
  }

  /** Delays everything by `ms` milliseconds in each direction, so a reply takes twice as long. 0 ends the delay. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /**
   * Drops everything from now on, while connections stay open and the proxy accepts new ones. To deliver commands late
   * instead, use `RedisServer.pause`.
   */
  freeze(): void {
    this.#isFrozen = true;
  }

  /** Ends {@link freeze}. Destroys connections that lost bytes, because a TCP connection never loses any. */
  thaw(): void {
    this.#isFrozen = false;
    for (const pair of this.#pairs) if (pair.hasDropped) this.#destroy(pair);
  }

  /** Destroys all connections, unless they end in a reply, and lets new ones fail. */
  async fail(failure: Failure): Promise<void> {
    this.#failure = failure;
    if (failure === 'endsInReply') return;
    const closed = failure === 'refuses' ? once(this.#server, 'close') : undefined;
    if (closed !== undefined) this.#server.close();
    this.cut();
    await closed;
  }

  /** Ends {@link fail}. The connections that got no byte end, as if the host had started again. */
  async heal(): Promise<void> {
    const wasRefused = this.#failure === 'refuses';
    this.#failure = undefined;
    for (const client of this.#silent) client.destroy();
    if (wasRefused) await once(this.#server.listen(this.port, HOST), 'listening');
  }

  /** Drops all replies from now on until {@link cut}, while commands still arrive. */
  dropReplies(): void {
    this.#dropsReplies = true;
  }

  /** Leads new connections to another port, as a changed address does. */
  redirect(targetPort: number): void {
    this.#targetPort = targetPort;
  }

  /** Destroys all connections. The proxy still accepts new ones. */
  cut(): void {
    this.#dropsReplies = false;
    for (const pair of this.#pairs) this.#destroy(pair);
  }

  /** Destroys all connections and accepts no more. You may call it twice. */
  stop(): Promise<void> {
    if (this.#stopped === undefined) {
      const closed = once(this.#server, 'close');
      this.#server.close();
      this.cut();
      for (const client of this.#silent) client.destroy();
      this.#stopped = closed.then(() => {});
    }
    return this.#stopped;
  }

  #accept(client: Socket): void {
    if (this.#failure === 'ends') {
      client.destroy();
    } else if (this.#failure === 'isSilent') {
      this.#silent.add(client);
      client.on('error', () => {}); // `close` follows.
      client.on('close', () => this.#silent.delete(client));
    } else {
      this.#serve(client, connect(this.#targetPort, HOST));
    }
  }

  #serve(client: Socket, server: Socket): void {
    const pair: Pair = { sides: [client, server], hasDropped: false };
    this.#pairs.add(pair);
    this.#pass(pair, client, server);
    this.#pass(pair, server, client);
  }

  /** Passes on the bytes and the end of one side in order. */
  #pass(pair: Pair, from: Socket, to: Socket): void {
    let last: Promise<unknown> = Promise.resolve();
    const later = (step: () => void) => {
      const due = this.#delayMs === 0 ? undefined : delay(this.#delayMs, undefined, { ref: false });
      last = last.then(() => due).then(() => this.#dropOr(pair, step));
    };
    from.setNoDelay();
    from.on('data', (chunk) => {
      later(() => {
        if (this.#dropsReplies && from === pair.sides[1]) return;
        const endsHere = this.#failure === 'endsInReply' && from === pair.sides[1];
        to.write(endsHere ? chunk.subarray(0, chunk.length / 2) : chunk);
        if (!endsHere) return;
        this.#pairs.delete(pair);
        from.destroy();
        to.destroySoon();
      });
    });
    from.on('close', () => {
      later(() => {
        this.#pairs.delete(pair);
        to.destroySoon(); // Sends what was written before.
      });
    });
    from.on('error', () => {}); // `close` follows.
  }

  #dropOr(pair: Pair, step: () => void): void {
    if (!this.#pairs.has(pair)) return;
    if (this.#isFrozen) pair.hasDropped = true;
    else step();
  }

  #destroy(pair: Pair): void {
    this.#pairs.delete(pair);
    for (const side of pair.sides) side.destroy();
  }
}
