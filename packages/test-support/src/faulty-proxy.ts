import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { HOST } from './free-port.js';

/** A connection through the proxy: the client's side and the server's. */
interface Pair {
  readonly sides: readonly [client: Socket, server: Socket];
  /** Whether bytes, or the news of its end, were swallowed. */
  hasLost: boolean;
}

/** A bad network between a client and a server: a TCP proxy on 127.0.0.1 that can be slow, silent or cut. */
export class FaultyProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #delayMs = 0;
  #isFrozen = false;
  #stopped: Promise<void> | undefined;

  private constructor(server: Server, targetPort: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (client) => this.#serve(client, connect(targetPort, HOST)));
  }

  static async start(targetPort: number): Promise<FaultyProxy> {
    const server = createServer().listen(0, HOST);
    await once(server, 'listening');
    return new FaultyProxy(server, targetPort);
  }

  /** From now on everything takes that long each way, so that an answer comes twice as late; 0 for not at all. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /**
   * From now on everything is swallowed, and nobody is told: connections stay open, and new ones are accepted. For
   * commands that come late but come, see `RedisServer.pause`.
   */
  freeze(): void {
    this.#isFrozen = true;
  }

  /** Ends {@link freeze}. Connections that have lost bytes are cut, as none that lives on ever loses any. */
  thaw(): void {
    this.#isFrozen = false;
    for (const pair of this.#pairs) if (pair.hasLost) this.#destroy(pair);
  }

  /** Destroys all connections; new ones are served. */
  cut(): void {
    for (const pair of this.#pairs) this.#destroy(pair);
  }

  /** Destroys all connections, and takes no more. Harmless twice. */
  stop(): Promise<void> {
    if (this.#stopped === undefined) {
      const closed = once(this.#server, 'close');
      this.#server.close();
      this.cut();
      this.#stopped = closed.then(() => {});
    }
    return this.#stopped;
  }

  #serve(client: Socket, server: Socket): void {
    const pair: Pair = { sides: [client, server], hasLost: false };
    this.#pairs.add(pair);
    this.#pass(pair, client, server);
    this.#pass(pair, server, client);
  }

  /** Passes on what comes `from` one side, in its order, and its end. */
  #pass(pair: Pair, from: Socket, to: Socket): void {
    let last: Promise<unknown> = Promise.resolve();
    const later = (step: () => void) => {
      const due = this.#delayMs === 0 ? undefined : delay(this.#delayMs, undefined, { ref: false });
      last = last.then(() => due).then(() => this.#loseOr(pair, step));
    };
    from.setNoDelay();
    from.on('data', (chunk) => later(() => to.write(chunk)));
    from.on('close', () => {
      later(() => {
        this.#pairs.delete(pair);
        to.destroySoon(); // What was written before still gets there.
      });
    });
    from.on('error', () => {}); // Its close follows.
  }

  #loseOr(pair: Pair, step: () => void): void {
    if (!this.#pairs.has(pair)) return;
    if (this.#isFrozen) pair.hasLost = true;
    else step();
  }

  #destroy(pair: Pair): void {
    this.#pairs.delete(pair);
    for (const side of pair.sides) side.destroy();
  }
}
