import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy on 127.0.0.1 that lets every command through, and can steal the answers. */
export class AnswerThief {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #steals = false;

  private constructor(server: Server, targetPort: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (client) => this.#serve(client, connect(targetPort, '127.0.0.1')));
  }

  static async start(targetPort: number): Promise<AnswerThief> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new AnswerThief(server, targetPort);
  }

  /** From now on no answer arrives. */
  steal(): void {
    this.#steals = true;
  }

  /** Ends {@link steal}, and all connections. */
  flee(): void {
    this.#steals = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  stop(): void {
    this.#server.close();
    this.flee();
  }

  #serve(client: Socket, server: Socket): void {
    client.on('data', (chunk) => server.write(chunk));
    server.on('data', (chunk) => this.#steals || client.write(chunk));
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => {}); // Its close follows.
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
