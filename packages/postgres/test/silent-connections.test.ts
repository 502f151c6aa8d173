import { RateLimiter, rollingWindow } from '@rollgate/core';
import { type PostgresClient, PostgresStore } from '@rollgate/postgres';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { silenceOutages } from '@rollgate/test-support/silence-outages';

silenceOutages();

/** What the clients did. */
let events: string[] = [];
/** Ends the silence of the first connection. */
let respond: (error: Error) => void;
let connections = 0;

beforeEach(() => {
  events = [];
  connections = 0;
  // The store's deadline, and no timer of a limiter or of Jest.
  const start = setTimeout;
  jest
    .spyOn(globalThis, 'setTimeout')
    .mockImplementation(((callback: () => void, ms: number) =>
      start(callback, ms === 10_000 ? 1 : ms)) as typeof setTimeout);
});
afterEach(() => jest.restoreAllMocks());

/** Returns what a connection does with a text. The first connection is silent, and the others fail. */
function createConnection(): (text: string) => Promise<unknown> {
  const name = ++connections;
  return (text) => {
    events.push(`${name} ${text.split(' ')[0]}`);
    if (name > 1) return Promise.reject(new Error('Closed'));
    if (text === 'ROLLBACK') return Promise.resolve(Object.assign([], { command: 'ROLLBACK' }));
    return new Promise((_, reject) => {
      respond = reject;
    });
  };
}

const clients: Record<string, () => unknown> = {
  pg: () => ({
    ...{ query() {}, end() {}, totalCount: 0 },
    connect(callback: (error: undefined, client: object) => void) {
      const run = createConnection();
      const name = connections;
      callback(undefined, {
        ...{ query: ({ text }: { text: string }) => run(text), on() {}, removeListener() {} },
        release: (destroy = false) => events.push(`${name} ${destroy ? 'closed' : 'released'}`),
      });
    },
  }),
  'Postgres.js': () =>
    Object.assign(() => {}, {
      ...{ options: { max: 1 }, listen() {} },
      unsafe: () => ({ simple: async () => [] }),
      async reserve() {
        const run = createConnection();
        const name = connections;
        return {
          unsafe: (text: string) => ({ simple: () => run(text) }),
          release: () => events.push(`${name} released`),
        };
      },
    }),
};

/** What the server reports of a statement. Its connection stays open. */
const failed = Object.assign(new Error('canceling statement'), { severity: 'ERROR' });
const reset = new Error('read ECONNRESET');

test.each([
  ['pg', failed, ['1 BEGIN', '1 closed', '2 BEGIN'], []],
  ['Postgres.js', failed, ['1 BEGIN', '2 BEGIN'], ['1 ROLLBACK', '1 released']],
  ['Postgres.js', reset, ['1 BEGIN', '2 BEGIN'], []],
])(
  'with %s, the next check after a silent connection uses another one: %s',
  async (kind, response, untilNext, afterResponse) => {
    const store = new PostgresStore({ client: clients[kind]!() as PostgresClient });
    const limits = rollingWindow({ limit: 1, window: '1h' });
    const limiter = new RateLimiter({ limits, store, onStoreError: 'throw' });
    await expect(limiter.check('ann')).rejects.toThrow('did not respond within 10000 ms');
    await expect(limiter.check('ann')).rejects.toThrow('Closed');
    expect(events.slice(0, untilNext.length)).toEqual(untilNext);
    await flushPromises();
    respond(response);
    await flushPromises();
    expect(events.filter((event) => event.startsWith('1')).slice(untilNext.length - 1)).toEqual(afterResponse);
  },
);
