import { type IncomingMessage, request as requestHttp1 } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import type { Readable } from 'node:stream';

/** A request to a host. */
export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

/** A whole response. */
export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string | undefined>;
  readonly body: string;
}

/** A request in flight, which can be aborted. */
export interface Exchange {
  /** The first part of the body. */
  readonly firstPart: Promise<string>;
  readonly reply: Promise<Reply>;
  /** Closes the connection, or the stream of HTTP/2. */
  abort(): void;
}

/** Sends requests to one host, each over its own connection or stream. */
export interface Client {
  open(path: string, options?: RequestOptions): Exchange;
  close(): void;
}

/** @param added Headers that a proxy in front of the host sets. */
export const createHttp1Client = (port: number, added: Record<string, string> = {}): Client => ({
  open(path, { method = 'GET', headers = {} } = {}) {
    const all = { ...headers, ...added };
    const request = requestHttp1({ host: '127.0.0.1', port, path, method, headers: all, agent: false });
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject);
    });
    const { firstPart, whole } = readBody(response);
    const reply = Promise.all([response, whole]).then(([{ statusCode, headers: received }, body]) => ({
      status: statusCode!,
      headers: received as Reply['headers'],
      body,
    }));
    for (const promise of [reply, firstPart]) promise.catch(() => {}); // Tests that abort expect no reply.
    request.end();
    return { reply, firstPart, abort: () => request.destroy() };
  },
  close() {},
});

export function createHttp2Client(port: number): Client {
  const session: ClientHttp2Session = connect(`http://127.0.0.1:${port}`);
  return {
    open(path, { method = 'GET', headers = {} } = {}) {
      const stream = session.request({ ':path': path, ':method': method, ...headers });
      const head = new Promise<Record<string, string>>((resolve, reject) => {
        stream.on('response', resolve as never).on('error', reject);
      });
      const { firstPart, whole } = readBody(Promise.resolve(stream));
      const reply = Promise.all([head, whole]).then(([headers, body]) => ({
        status: Number(headers[':status']),
        headers,
        body,
      }));
      for (const promise of [reply, firstPart]) promise.catch(() => {});
      return { reply, firstPart, abort: () => stream.close(8) };
    },
    close: () => session.destroy(),
  };
}

/** Reads a body, of which a test may want only the first part. */
function readBody(response: Promise<Readable>): { firstPart: Promise<string>; whole: Promise<string> } {
  let onFirstPart: (part: string) => void;
  const firstPart = new Promise<string>((resolve) => {
    onFirstPart = resolve;
  });
  const whole = response.then(
    (incoming) =>
      new Promise<string>((resolve, reject) => {
        let body = '';
        incoming.on('data', (chunk) => {
          body += chunk;
          onFirstPart(body);
        });
        incoming.on('end', () => resolve(body)).on('error', reject);
      }),
  );
  whole.catch(() => {});
  return { firstPart, whole };
}
