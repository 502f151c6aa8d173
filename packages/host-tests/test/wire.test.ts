import { attackHosts } from '../src/attack-hosts.js';
import { decisions } from '../src/cases/decisions.js';
import { rejections } from '../src/cases/rejections.js';
import { responseEnd } from '../src/cases/response-end.js';
import { type Client, createHttp1Client, createHttp2Client } from '../src/client.js';
import {
  type HostProcess,
  startBunHosts,
  startDenoHosts,
  startNodeHosts,
  startWorkerdHosts,
} from '../src/start-hosts.js';

/** The cases that every host passes, by their titles. */
const cases = { ...decisions, ...rejections, ...responseEnd };

/** Why a host cannot have a case. */
type Exclusions = Readonly<Record<string, string>>;

const RESPONSES_ARE_SHARED: Exclusions = {
  'a response that other code drops releases its slot':
    'all code writes to the same response, so no code can replace it',
};
const RESPONSES_ARE_VALUES: Exclusions = {
  'a rejected request ends a response that other code has started':
    'a response is a value, so no code can have started it before the limiter runs',
};
const ERRORS_ARE_JSON: Exclusions = {
  'a rejection is plain text for clients that prefer it': 'the framework responds to errors as JSON',
};
const NO_STARTED: Exclusions = {
  'a rejected request ends a response that other code has started':
    'the guard runs before any code of a controller can start the response',
};
const NOTICES_WRITES_ONLY: Exclusions = {
  ...RESPONSES_ARE_VALUES,
  'a client that leaves a queue frees its start':
    'workerd notices that a client has left only when it writes to the connection',
};

/** What Cloudflare sets in front of a worker. There is no other source of the client's address. */
const CLOUDFLARE = { 'cf-connecting-ip': '127.0.0.1' };

/** The hosts of each process, with the cases that they cannot have. */
const PROCESSES: readonly [name: string, start: () => Promise<HostProcess>, hosts: Record<string, Exclusions>][] = [
  [
    'Node',
    startNodeHosts,
    {
      'Express 5': RESPONSES_ARE_SHARED,
      'Express 4': RESPONSES_ARE_SHARED,
      'Fastify 5': { ...RESPONSES_ARE_SHARED, ...ERRORS_ARE_JSON },
      'Koa 3': RESPONSES_ARE_SHARED,
      'node:http': RESPONSES_ARE_SHARED,
      'node:http2': RESPONSES_ARE_SHARED,
      'Hono on Node': RESPONSES_ARE_VALUES,
      'Nest on Express': { ...RESPONSES_ARE_SHARED, ...ERRORS_ARE_JSON, ...NO_STARTED },
      'Nest on Fastify': { ...RESPONSES_ARE_SHARED, ...ERRORS_ARE_JSON, ...NO_STARTED },
    },
  ],
  ['Bun', startBunHosts, { 'Fetch on Bun': RESPONSES_ARE_VALUES, 'Hono on Bun': RESPONSES_ARE_VALUES }],
  ['Deno', startDenoHosts, { 'Fetch on Deno': RESPONSES_ARE_VALUES, 'Hono on Deno': RESPONSES_ARE_VALUES }],
  ['workerd', startWorkerdHosts, { 'Fetch on workerd': NOTICES_WRITES_ONLY, 'Hono on workerd': NOTICES_WRITES_ONLY }],
];

describe.each(PROCESSES)('in a process of %s', (_, start, hosts) => {
  let serving: HostProcess;
  beforeAll(async () => {
    serving = await start();
  });
  afterAll(() => serving?.stop());

  test('every host is tested', () => expect(Object.keys(serving.ports).sort()).toEqual(Object.keys(hosts).sort()));

  test('the hosts count each request of slow and leaving clients once', () => attackHosts(serving.ports));

  describe.each(Object.entries(hosts))('%s', (name, exclusions) => {
    let client: Client;
    beforeAll(() => {
      const port = serving.ports[name]!;
      const added = name.endsWith('workerd') ? CLOUDFLARE : {};
      client = name === 'node:http2' ? createHttp2Client(port) : createHttp1Client(port, added);
    });
    afterAll(() => client?.close());

    for (const [title, run] of Object.entries(cases)) {
      const reason = exclusions[title];
      if (reason === undefined) test(title, () => run({ client, id: `${name}: ${title}` }));
      else test.skip(`${title} (${reason})`, () => {});
    }
  });
});
