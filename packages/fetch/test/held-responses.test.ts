import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ManualClock, MemoryStore, manualClock } from '@rollgate/core';
import { Agent, type Dispatcher, request, stream } from 'undici';
import { type CallOptions, type Dialect, github, openai } from '../src';
import { createInterceptor } from '../src/undici';

// The interceptor holds responses whose body reports limits, and rejections that it may repeat.
let server: Server;
let url: string;
/** How the server responds to one request after the other. It has nothing to report afterwards. */
let answers: ((response: ServerResponse) => void)[];
beforeAll(async () => {
  server = createServer((incoming, response) => {
    incoming.resume();
    (answers.shift() ?? done)(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
const agents: Dispatcher[] = [];
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await Promise.all(agents.map((agent) => agent.destroy()));
});

let clock: ManualClock;
beforeEach(() => {
  clock = manualClock(1_000_000);
});

function createAgent(options: CallOptions): { dispatcher: Dispatcher } {
  const store = new MemoryStore({ clock });
  const dispatcher = new Agent().compose(createInterceptor({ store, maxWait: '2h', ...options }));
  agents.push(dispatcher);
  return { dispatcher };
}

/** A dialect that lets the interceptor hold each response. */
const readsAll: Dialect = { name: 'acme', units: [], readsBody: () => true, read: () => undefined };
const json = { 'content-type': 'application/json' };
const done = (response: ServerResponse) => void response.end('done');
/** A rejection whose connection ends too early. */
const broken = (response: ServerResponse) => {
  response.writeHead(429, { ...json, 'retry-after': '60', 'content-length': '1000' });
  response.write('{"error":', () => response.destroy());
};

describe.each([
  ['whose body is read', [openai()]],
  ['that may be repeated', []],
])('a rejection %s, with a connection that breaks', (_, dialects) => {
  test('is obeyed and repeated', async () => {
    answers = [broken, done];
    const sleeps: number[] = [];
    const onWait = ({ waitMs }: { waitMs: number }) => {
      sleeps.push(waitMs);
      clock.advance(waitMs);
    };
    const { statusCode, body } = await request(url, createAgent({ dialects, onWait }));
    expect([statusCode, await body.text(), sleeps]).toEqual([200, 'done', [60_000]]);
  });

  test('is the response of a call that is not repeated, and its body fails', async () => {
    answers = [broken];
    const agent = createAgent({ dialects, maxWait: '30s' });
    const { statusCode, body } = await request(url, agent);
    expect(statusCode).toBe(429);
    await expect(body.text()).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
    await expect(request(url, agent)).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
  });
});

describe('a response that does not end is passed on after 5 seconds', () => {
  /** A dialect that reads bodies or not, and what it has seen. The next step follows once the response is held. */
  function createDialect(readsBody: boolean): { dialect: Dialect; held: Promise<void>; bodies: unknown[] } {
    let resolve = () => {};
    const held = new Promise<void>((resolveHeld) => {
      resolve = resolveHeld;
    });
    const bodies: unknown[] = [];
    const dialect: Dialect = {
      name: 'acme',
      units: [],
      readsBody: () => {
        resolve();
        return readsBody;
      },
      read: ({ body }) => void bodies.push(body),
    };
    return { dialect, held, bodies };
  }

  test.each([
    [403, true],
    [429, false],
  ])('with the status %d and a body that is read: %s', async (status, readsBody) => {
    const { dialect, held, bodies } = createDialect(readsBody);
    let open!: ServerResponse;
    answers = [
      (response) => {
        open = response.writeHead(status, { ...json, 'retry-after': '1' });
        open.write('[1,');
      },
    ];
    const agent = createAgent({ dialects: [dialect] });
    const call = request(url, agent);
    await held;
    clock.advance('5s');
    const { statusCode, body } = await call;
    open.end('2]');
    expect([statusCode, await body.json(), bodies]).toEqual([status, [1, 2], [undefined]]);
    answers = [done];
    expect((await request(url, agent)).statusCode).toBe(200);
  });

  test('and the call fails if the handler throws', async () => {
    const { dialect, held } = createDialect(true);
    answers = [(response) => response.writeHead(403, json).flushHeaders(), done];
    const agent = createAgent({ dialects: [dialect] });
    const call = stream(url, { ...agent, method: 'GET' }, ({ statusCode }) => {
      throw new Error(`unexpected ${statusCode}`);
    });
    await held;
    clock.advance('5s');
    await expect(call).rejects.toThrow('unexpected 403');
    expect((await request(url, agent)).statusCode).toBe(200);
  });
});

test.each([
  ['while its report is stored', 'read' as const],
  ['while its body arrives', 'readsBody' as const],
])('an abort of a rejected call %s ends the call. The next one obeys the rejection', async (_, when) => {
  answers = [
    (response) =>
      response.writeHead(429, { 'retry-after': '60' }).write('slow', () => when === 'read' && response.end()),
  ];
  const aborting = new AbortController();
  const reason = new Error('no longer needed');
  const abortIf = (step: string) => void (step === when && aborting.abort(reason));
  const readsBody = () => {
    setImmediate(abortIf, 'readsBody');
    return true;
  };
  const dialects: Dialect[] = [{ name: 'acme', units: [], readsBody, read: () => abortIf('read') }];
  const agent = createAgent({ dialects, maxWait: '30s' });
  await expect(request(url, { ...agent, signal: aborting.signal })).rejects.toBe(reason);
  await expect(request(url, agent)).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
});

test.each([
  ['a byte order mark', '\uFEFF', {}],
  ['`Content-Encoding: identity`', '', { 'content-encoding': 'Identity' }],
])('a body with %s is read', async (_, start, headers) => {
  const body = `${start}{"message":"You have exceeded a secondary rate limit"}`;
  answers = [(response) => response.writeHead(403, { ...json, ...headers }).end(body)];
  const agent = createAgent({ dialects: [github()], maxWait: '30s', retry: false });
  await (await request(url, agent)).body.dump();
  await expect(request(url, agent)).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
});

test.each([
  ['start', ['start']],
  ['data', ['start', 'data']],
])('a handler that aborts at the %s of a held response gets an error, and nothing else', async (when, expected) => {
  answers = [done];
  const reason = new Error('no longer needed');
  const events: string[] = [];
  const abortAt = (controller: Dispatcher.DispatchController, event: string) => {
    events.push(event);
    if (event === when) controller.abort(reason);
  };
  const ended = new Promise((resolve) => {
    createAgent({ dialects: [readsAll] }).dispatcher.dispatch(
      { origin: url, path: '/', method: 'GET' },
      {
        onRequestStart() {},
        onResponseStart: (controller) => abortAt(controller, 'start'),
        onResponseData: (controller) => abortAt(controller, 'data'),
        onResponseEnd: resolve,
        onResponseError: (_, error) => resolve(error),
      },
    );
  });
  expect([await ended, events]).toEqual([reason, expected]);
});

describe('a handler that pauses when it gets a held response', () => {
  const dialects = [readsAll];
  const reason = new Error('no longer needed');

  /** Sends a request whose handler pauses at each event, and acts then. Returns the events in their order. */
  function pauseAt(act: (controller: Dispatcher.DispatchController, event: string) => void): Promise<string[]> {
    const events: string[] = [];
    return new Promise((resolve) => {
      const pause = (controller: Dispatcher.DispatchController, event: string) => {
        events.push(event);
        controller.pause();
        setImmediate(() => {
          events.push('acts');
          act(controller, event);
        });
      };
      const end = (event: string) => {
        events.push(event);
        resolve(events);
      };
      createAgent({ dialects }).dispatcher.dispatch(
        { origin: url, path: '/', method: 'GET' },
        {
          onRequestStart() {},
          onResponseStart: (controller) => pause(controller, 'start'),
          onResponseData: (controller) => pause(controller, 'data'),
          onResponseEnd: () => end('end'),
          onResponseError: (_, error) => end(error.message),
        },
      );
    });
  }

  test('gets the next event after it has resumed', async () => {
    answers = [done];
    const events = await pauseAt((controller) => controller.resume());
    expect(events).toEqual(['start', 'acts', 'data', 'acts', 'end']);
  });

  test('gets all parts of a response that is too long to be held', async () => {
    const sent = 'x'.repeat(70_000);
    answers = [(response) => void response.end(sent)];
    const agent = createAgent({ dialects });
    const { body } = await request(url, agent);
    await new Promise(setImmediate); // The body pauses until it is read.
    expect(await body.text()).toBe(sent);
  });

  test('gets an error if it aborts, and nothing else', async () => {
    answers = [done];
    const events = await pauseAt((controller) => {
      controller.abort(reason);
      controller.resume();
    });
    expect(events).toEqual(['start', 'acts', reason.message]);
  });

  test.each(['data', 'end'])('gets an error if it throws at the %s after it has resumed', async (thrower) => {
    answers = [done];
    const throwAt = (event: string) => {
      if (event === thrower) throw reason;
    };
    const ended = new Promise((resolve) => {
      createAgent({ dialects }).dispatcher.dispatch(
        { origin: url, path: '/', method: 'GET' },
        {
          onRequestStart() {},
          onResponseStart: (controller) => {
            controller.pause();
            setImmediate(() => controller.resume());
          },
          onResponseData: () => throwAt('data'),
          onResponseEnd: () => throwAt('end'),
          onResponseError: (_, error) => resolve(error),
        },
      );
    });
    expect(await ended).toBe(reason);
  });
});
