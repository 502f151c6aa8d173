import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A response of the API. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request that the API has received. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** An HTTP server that answers as a test wants. */
export class TestApi {
  readonly received: Received[] = [];
  readonly #server: Server;
  /** Answers a request. Tests replace it. */
  answer: (request: IncomingMessage) => Answer | Promise<Answer> = () => ({});

  constructor() {
    this.#server = createServer(async (request, response) => {
      this.received.push({ method: request.method!, path: request.url!, body: await text(request) });
      const { status = 200, headers = {}, body = 'ok' } = await this.answer(request);
      response.writeHead(status, headers).end(body);
    });
  }

  /** Serves for the tests of a file. Each starts with empty responses. */
  static forThisFile(): TestApi {
    const api = new TestApi();
    beforeAll(() => api.start());
    afterAll(() => api.stop());
    beforeEach(() => api.answerWith({}));
    return api;
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Answers with these, one after the other, and then with the last one again. */
  answerWith(...answers: Answer[]): void {
    this.received.length = 0;
    this.answer = () => (answers.length > 1 ? answers.shift()! : answers[0]!);
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
