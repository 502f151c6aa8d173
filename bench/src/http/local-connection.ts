import { subscribe } from 'node:diagnostics_channel';
import type { Server, ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';

const REQUEST = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n';

/** A connection within the server's process, so that no network adds to its instructions. */
export class LocalConnection {
  readonly #stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  #left = 0;
  #resolve: (status: number) => void = () => {};

  constructor(server: Server) {
    Object.assign(this.#stream, { remoteAddress: '127.0.0.1' });
    server.emit('connection', this.#stream);
    const push = () => this.#stream.push(REQUEST);
    subscribe('http.server.response.finish', (message) => {
      this.#left -= 1;
      if (this.#left > 0) setImmediate(push);
      else this.#resolve((message as { readonly response: ServerResponse }).response.statusCode);
    });
  }

  /** Sends requests, each after the response to the one before. Resolves with the last status. */
  send(requests: number): Promise<number> {
    this.#left = requests;
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#stream.push(REQUEST);
    });
  }
}
