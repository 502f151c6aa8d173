import type { Decision } from '@rollgate/core';
import { memory } from '@rollgate/host-tests/test-stores';
import { Gate, type Host, type Outcome, renderRejection, WARNING_CODES } from '@rollgate/http';

/** A request without a connection, with whatever the option functions of a test read. */
// biome-ignore lint/suspicious/noExplicitAny: the functions of each test read other properties.
export type TestRequest = Record<string, any>;
export interface TestResponse {
  isSent: boolean;
}
export type Options = Record<string, unknown>;
type TestHost = Host<TestRequest, TestResponse, Headers>;

const HOST: TestHost = {
  name: 'rateLimit',
  ownOptions: [],
  resetUnit: 'delta',
  getClientAddress: ({ address }) => address,
  getRequestHeader: ({ headers = {} }, name) => headers[name],
  isDisconnected: ({ isDisconnected = false }) => isDisconnected,
  isResponseSent: ({ isSent }) => isSent,
  getSetHeader: (headers) => headers.set,
  getHeader: (headers, name) => headers.get(name) ?? undefined,
  lowercaseHeaders: false,
  attachDecision(request, decision) {
    request.rateLimit = decision;
  },
};

/** Creates a gate that emits no warning. Without a `store`, it has one with the test's clock. */
export const createGate = (options: Options = {}, host: Partial<TestHost> = {}) =>
  new Gate<TestRequest, TestResponse, Headers>({ ...HOST, ...host }, {
    store: memory(),
    silence: WARNING_CODES,
    ...options,
  } as never);
export type TestGate = ReturnType<typeof createGate>;

/** What a host would respond. */
export interface Reply {
  readonly kind: Outcome['kind'];
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | undefined;
  readonly type: string | undefined;
  readonly decision: Decision | undefined;
  readonly error: Error | undefined;
}

const STATUSES = { exempt: 200, allowed: 200, rejected: 429, responded: 503, failed: 500, disconnected: 499 };

/** A host that sends requests of one client through the gates, until one of them does not allow it. */
export function createHost(...gates: TestGate[]) {
  async function send(request: TestRequest = {}, headers = new Headers()): Promise<Reply> {
    const sent: TestRequest = { address: '192.0.2.1', ...request };
    let reply: Reply | undefined;
    for (const gate of gates) {
      reply = toReply(gate, await gate.judge(sent, { isSent: false }), headers, request.headers?.accept);
      if (reply.status !== 200) break;
    }
    return { ...reply!, decision: sent.rateLimit };
  }
  return {
    send,
    /** Sends the requests one after the other, and returns the statuses. */
    async statuses(...requests: TestRequest[]): Promise<number[]> {
      const all: number[] = [];
      for (const request of requests) all.push((await send(request)).status);
      return all;
    },
  };
}

function toReply(gate: TestGate, outcome: Outcome, headers: Headers, accept?: string): Reply {
  const { kind } = outcome;
  const isVisible = kind === 'rejected' || (kind === 'allowed' && !outcome.isDryRun);
  if (isVisible) gate.headers.write(headers, outcome);
  const error = kind === 'failed' || kind === 'disconnected' ? outcome.error : undefined;
  const reply = { kind, status: STATUSES[kind], headers, body: undefined, type: undefined, decision: undefined, error };
  if (kind !== 'rejected') return reply;
  const { rejection } = outcome;
  if ('error' in rejection) return { ...reply, status: rejection.status, error: rejection.error };
  return { ...reply, ...renderRejection(rejection, accept) };
}

/** A host with one gate. */
export const limitedHost = (options: Options, host?: Partial<TestHost>) => createHost(createGate(options, host));

/** A function of a request, once as it is and once async. */
export const syncAndAsync = <Value>(of: (request: TestRequest) => Value) =>
  [
    ['at once', of],
    ['with a promise', async (request: TestRequest) => of(request)],
  ] as const;
