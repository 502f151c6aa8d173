import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { handleTasks } from '../worker.js';

/** Requests to one server over persistent connections, until the time is over or all of them are sent. */
export interface LoadTask {
  readonly port: number;
  readonly expectedStatus: number;
  readonly ms?: number;
  readonly requests?: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
}

const CONNECTIONS = 50;
const REQUEST = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n';

/** The connections to each server. They stay open between the rounds, so that no round pays for opening them. */
const connectionsTo = new Map<number, Promise<Connection[]>>();

/** A connection that carries one request at a time. It waits for the body's end, by `Content-Length`. */
class Connection {
  readonly #socket: Socket;
  #received = '';
  #onResponse: (status: number) => void = () => {};

  constructor(socket: Socket) {
    this.#socket = socket.setNoDelay().setEncoding('latin1');
    socket.on('data', (chunk) => {
      this.#received += chunk;
      const end = endOfResponse(this.#received);
      if (end > this.#received.length) return;
      const status = Number(this.#received.slice(9, 12));
      this.#received = this.#received.slice(end);
      this.#onResponse(status);
    });
  }

  /** Sends the next request as soon as `onResponse` returns `true` for a response. Resolves when it returns `false`. */
  sendWhile(onResponse: (status: number) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#onResponse = (status) => {
        if (onResponse(status)) this.#socket.write(REQUEST);
        else resolve();
      };
      this.#socket.write(REQUEST);
    });
  }
}

function endOfResponse(text: string): number {
  const endOfHeaders = text.indexOf('\r\n\r\n');
  if (endOfHeaders === -1) return Infinity;
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(text) ?? [];
  if (length === undefined) throw new Error(`Expected a response with Content-Length, got ${text}`);
  return endOfHeaders + 4 + Number(length);
}

async function open(port: number): Promise<Connection[]> {
  return Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      return new Connection(socket);
    }),
  );
}

handleTasks(async ({ port, expectedStatus, ms = Infinity, requests = Infinity }: LoadTask): Promise<LoadResult> => {
  if (!connectionsTo.has(port)) connectionsTo.set(port, open(port));
  const connections = await connectionsTo.get(port)!;
  const used = connections.slice(0, requests);
  const start = performance.now();
  let sent = used.length;
  let received = 0;
  const onResponse = (status: number) => {
    if (status !== expectedStatus) throw new Error(`Expected the status ${expectedStatus}, got ${status}`);
    received += 1;
    const isOver = sent >= requests || performance.now() - start >= ms;
    if (!isOver) sent += 1;
    return !isOver;
  };
  await Promise.all(used.map((connection) => connection.sendWhile(onResponse)));
  return { requests: received, perSecond: (received * 1000) / (performance.now() - start) };
});
