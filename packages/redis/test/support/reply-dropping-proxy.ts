import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy on 127.0.0.1 that passes on every command, and can drop the replies. */
export class ReplyDroppingProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #dropsReplies = false;

  private constructor(server: Server, targetPort: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (client) => this.#serve(client, connect(targetPort, '127.0.0.1')));
  }

  static async start(targetPort: number): Promise<ReplyDroppingProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ReplyDroppingProxy(server, targetPort);
  }

  /** Drops all replies from now on. */
  dropReplies(): void {
    this.#dropsReplies = true;
  }

  /** Ends {@link dropReplies}, and closes all connections. */
  closeConnections(): void {
    this.#dropsReplies = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  stop(): void {
    this.#server.close();
    this.closeConnections();
  }

  #serve(client: Socket, server: Socket): void {
    client.on('data', (chunk) => server.write(chunk));
    server.on('data', (chunk) => this.#dropsReplies || client.write(chunk));
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => {}); // `close` follows.
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
