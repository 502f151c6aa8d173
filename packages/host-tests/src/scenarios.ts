import {
  concurrency,
  type Decision,
  leakyBucket,
  type RateLimiter,
  type RollingWindow,
  rollingWindow,
} from '@rollgate/core';
import type { SettleRequestOptions } from '@rollgate/http';

/** The interval of the scenario `queue`, in milliseconds. */
export const QUEUE_INTERVAL_MS = 50;

/** Reads a header of a host's request. */
export type ReadHeader<Request> = (request: Request, name: string) => string | null | undefined;

/** The options of one limiter. The types of requests differ between hosts, so the functions here take any. */
export type ScenarioOptions = Record<string, unknown>;

/** Creates the options of each scenario. A host mounts each on the path of its name. */
export function createScenarios<Request>(read: ReadHeader<Request>): Record<string, ScenarioOptions> {
  const client = (request: Request) => read(request, 'x-client') ?? 'anonymous';
  const window = { limit: 2, window: '1h', key: client };
  const address = { limit: 1, window: '1h', silence: ['ROLLGATE_UNTRUSTED_PROXY', 'ROLLGATE_COUNTED_TWICE'] };
  const failingKey = () => {
    throw new Error('The key failed');
  };
  return {
    window: { ...window, fallbackLimits: ({ limit }: RollingWindow) => rollingWindow({ limit, window: '1h' }) },
    exposed: { ...window, headers: 'all', exposeHeaders: true },
    'all-headers': { ...window, limit: 10, headers: 'all' },
    silent: { ...window, limit: 1, headers: 'none', statusCode: 503 },
    problem: { ...window, limit: 1, problem: true },
    'allow-list': { limit: 1, window: '1h', allowList: ['127.0.0.0/8', '::1'] },
    address,
    'no-user': { ...address, key: () => undefined },
    'client-key': {
      limits: {
        login: rollingWindow({ limit: 1, window: '1h' }),
        address: rollingWindow({ limit: 2, window: '1h' }),
      },
      // The client's key is the last argument. On the Fetch adapter, the platform's second argument precedes it.
      key(request: Request, ...rest: (() => string)[]) {
        const clientKey = rest.at(-1)!;
        return { login: `${clientKey()}:${client(request)}`, address: clientKey() };
      },
      silence: ['ROLLGATE_UNTRUSTED_PROXY'],
    },
    'dry-run': { ...window, limit: 1, dryRun: true },
    'failing-dry-run': { ...window, key: failingKey, dryRun: true, silence: ['ROLLGATE_DRY_RUN_FAILED'] },
    queue: { limits: leakyBucket({ capacity: 2, interval: `${QUEUE_INTERVAL_MS}ms` }), key: client },
    'long-queue': { limits: leakyBucket({ capacity: 1, interval: '1h' }), key: client },
    'failing-key': { ...window, key: failingKey },
    'failing-cost': {
      ...window,
      cost: async () => {
        throw new Error('The cost failed');
      },
    },
    'failing-message': {
      ...window,
      limit: 1,
      message: () => {
        throw new Error('The message failed');
      },
    },
    'error-message': { ...window, limit: 1, message: () => new Error('Used up') },
    text: { ...window, limit: 1, message: 'Slow down' },
    object: { ...window, limit: 1, message: { oh: 'no' } },
    formats: {
      ...window,
      limit: 1,
      message: async () => ({ html: '<p>Slow down</p>', text: 'Slow down', json: { slow: 'down' } }),
    },
    page: { ...window, limit: 1, message: { html: '<p>Später</p>' } },
    status: {
      ...window,
      cost: (request: Request) => Number(read(request, 'x-cost')),
      statusCode: async (_request: Request, { retryAfterMs }: Decision) => (retryAfterMs === Infinity ? 413 : 503),
    },
    'skip-failed': { ...window, skipFailedRequests: true },
    'skip-successful': { ...window, skipSuccessfulRequests: true },
    'skip-aborted': { ...window, skipAbortedRequests: true },
    ten: { limit: 10, window: '1h', key: client },
    started: { ...window, limit: 1 },
    slots: { limits: concurrency({ limit: 1, lease: '1h' }), key: client },
    'late-slots': {
      limits: concurrency({ limit: 1, lease: '1h' }),
      async key(request: Request) {
        const name = client(request);
        await new Promise((resolve) => setTimeout(resolve, 2)); // The client may leave meanwhile.
        return name;
      },
    },
    settle: {
      limits: {
        requests: rollingWindow({ limit: 5, window: '1h' }),
        tokens: rollingWindow({ limit: 100, window: '1h' }),
      },
      key: client,
      cost: () => ({ tokens: 10 }),
    },
  };
}

/** A limiter of a scenario, by the scenario's name. */
export type Limiters = Record<string, RateLimiter>;

/** Responds to the paths below `/control`, by which the tests see the state of a host. */
export async function control(url: string, limiters: Limiters): Promise<object> {
  const [, , command, scenario = '', key = ''] = new URL(url, 'http://host').pathname
    .split('/')
    .map(decodeURIComponent);
  if (command === 'collect-garbage') {
    collectGarbage();
    return {};
  }
  const { remaining, limits } = await limiters[scenario]!.peek(key);
  return { remaining, limits };
}

/** Collects all objects that nothing refers to, on platforms that allow it. */
function collectGarbage(): void {
  const { Bun, gc } = globalThis as { Bun?: { gc(waits: boolean): void }; gc?: () => void };
  if (Bun !== undefined) Bun.gc(true);
  else gc?.();
}

/** How a handler responds, by the header `x-behavior`. */
export type Behavior = keyof typeof STATUSES | 'dropped' | 'throw' | 'stream' | 'endless' | keyof typeof SETTLED;

export const toBehavior = (header: string | null | undefined): Behavior => (header ?? 'hello') as Behavior;

/** The status of a response by its behavior; 200 for all others. */
const STATUSES = { hello: 200, missing: 404, redirect: 302, 'not-modified': 304 };

export const toStatus = (behavior: Behavior): number => STATUSES[behavior as keyof typeof STATUSES] ?? 200;

/** The body of a response that does not stream, which some statuses do not have. */
export const toBody = (behavior: Behavior): string | null => (behavior === 'not-modified' ? null : PARTS.join(''));

/** What a handler settles before it responds, by its behavior. */
const SETTLED = { settle: { cost: { tokens: 42 } }, 'settle-unknown': { cost: { calls: 1 } } };

export const toSettled = (behavior: Behavior): SettleRequestOptions | undefined =>
  SETTLED[behavior as keyof typeof SETTLED];

/** The handlers' body, in two parts for the behaviors that stream. */
export const PARTS = ['hel', 'lo'] as const;
