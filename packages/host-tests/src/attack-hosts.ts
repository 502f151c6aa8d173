import { until } from '@rollgate/test-support';
import { effort, faultsMs, seed } from '@rollgate/test-support/effort';
import { createRandom } from '@rollgate/test-support/random';
import { createHttp1Client, createHttp2Client } from './client.js';
import { type FaultyRequest, type Received, sendHttp1, sendHttp2 } from './faulty-client.js';
import { sendWebSocket } from './faulty-websocket.js';

/** How long each process serves clients, and at least how many on each of its hosts. */
const FAULTS_MS = faultsMs(0, 60_000);
const CLIENTS = 18;
const MOST_CLIENTS = 1000;
const PARALLEL = 5;
/** Node detects no disconnect behind more than 64 kB that it has not read, and a connection has up to four requests. */
const LONGEST_BODY = 10_000;
const BEHAVIORS = ['hello', 'missing', 'throw', 'stream', 'endless'];

/** What the connections of one client have received. */
interface Totals {
  readonly sent: number;
  /** The statuses of requests that the limit allowed, and of those whose responses arrived as a whole. */
  readonly allowed: readonly number[];
  readonly whole: readonly number[];
  readonly rejected: number;
}

const isSuccess = (status: number) => status < 400;

/** The least and the most units that a client can have used, by what it has received. The rest of its requests is unknown. */
const SCENARIOS: Readonly<Record<string, { limit: number; bounds(totals: Totals): readonly [number, number] }>> = {
  ten: {
    limit: 10,
    bounds: ({ sent, allowed, rejected }) => [allowed.length, sent - rejected],
  },
  'skip-failed': {
    limit: 2,
    bounds: ({ sent, allowed, rejected }) => {
      const failures = allowed.filter((status) => !isSuccess(status)).length;
      return [allowed.length - failures, sent - rejected - failures];
    },
  },
  'skip-successful': {
    limit: 2,
    bounds: ({ sent, allowed, whole, rejected }) => [
      allowed.filter((status) => !isSuccess(status)).length,
      sent - rejected - whole.filter(isSuccess).length,
    ],
  },
  'skip-aborted': {
    limit: 2,
    bounds: ({ sent, whole, rejected }) => [whole.length, sent - rejected],
  },
  slots: { limit: 1, bounds: () => [0, 0] },
  'late-slots': { limit: 1, bounds: () => [0, 0] },
};

function total(requests: number, connections: readonly Received[]): Totals {
  const known = (status: number) => status !== 429 && status !== 400;
  const statuses = connections.flatMap((connection) => connection.statuses);
  const whole = connections.filter(({ isWhole }) => isWhole).flatMap((connection) => connection.statuses);
  const rejected = statuses.filter((status) => status === 429).length;
  return { sent: requests, allowed: statuses.filter(known), whole: whole.filter(known), rejected };
}

/** How clients send requests to a host, and the scenarios and behaviors that it has. */
function openHost(host: string, port: number) {
  const [scenarios, behaviors] = [Object.keys(SCENARIOS), BEHAVIORS];
  if (host === 'node:http2') return { send: sendHttp2, control: createHttp2Client(port), scenarios, behaviors };
  const control = createHttp1Client(port);
  if (host !== 'Nest over WebSockets') return { send: sendHttp1, control, scenarios, behaviors };
  return { send: sendWebSocket, control, scenarios: ['ten'], behaviors: ['hello', 'throw'] };
}

/** Creates the requests of a client on each of its connections. */
function createConnections(
  scenario: string,
  client: string,
  behaviors: readonly string[],
  random: () => number,
): FaultyRequest[][] {
  const createRequest = (): FaultyRequest => {
    const behavior = behaviors[Math.floor(random() * behaviors.length)]!;
    return {
      path: `/${scenario}`,
      headers: { 'x-client': client, 'x-behavior': behavior },
      bodyLength: random() < 0.3 ? Math.ceil(random() * LONGEST_BODY) : 0,
      isEndless: behavior === 'endless',
    };
  };
  return Array.from({ length: 1 + Math.floor(random() * 4) }, () =>
    Array.from({ length: 1 + Math.floor(random() * 4) }, createRequest),
  );
}

/** Runs hostile clients against a host until a time, and returns how many requests were allowed, rejected and without a response. */
async function attack(host: string, port: number, endMs: number): Promise<Record<string, number>> {
  const random = createRandom(seed);
  const { send, control, scenarios, behaviors } = openHost(host, port);
  const used = async (scenario: string, client: string) => {
    const { body } = await control.open(`/control/peek/${scenario}/${client}`).reply;
    return SCENARIOS[scenario]!.limit - JSON.parse(body).remaining;
  };
  const kinds = { clients: 0, allowed: 0, rejected: 0, unknown: 0 };
  const runClient = async (number: number) => {
    const scenario = scenarios[number % scenarios.length]!;
    const client = `${host} ${number}`.replaceAll(/[^a-z0-9]/gi, '-');
    const connections = createConnections(scenario, client, behaviors, random);
    const received = await Promise.all(connections.map((requests) => send(port, requests, random)));
    const totals = total(connections.flat().length, received);
    const { limit, bounds } = SCENARIOS[scenario]!;
    const [least, most] = bounds(totals);
    const about = `${client} has used ${least} to ${most} of ${limit} in ${scenario}: ${JSON.stringify(totals)}`;
    // The server notices later that a client has left.
    await until(about, async () => {
      const units = await used(scenario, client);
      return units >= least && units <= most;
    });
    if (scenario === 'ten' || scenario === 'skip-failed') expect([about, least <= limit]).toEqual([about, true]);
    kinds.clients += 1;
    kinds.allowed += totals.allowed.length;
    kinds.rejected += totals.rejected;
    kinds.unknown += totals.sent - totals.allowed.length - totals.rejected;
  };
  let next = 0;
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      // On a busy machine, all of the first clients may leave before they receive anything.
      const isToContinue = () =>
        next < CLIENTS || performance.now() < endMs || (kinds.allowed === 0 && next < MOST_CLIENTS);
      while (isToContinue()) await runClient(next++);
    }),
  );
  control.close();
  return kinds;
}

/**
 * Lets slow and leaving clients send requests to hosts of one process, by their ports, and expects that each request counts once.
 * Set `ROLLGATE_FAULT_MINUTES` to attack for longer.
 */
export async function attackHosts(ports: Readonly<Record<string, number>>): Promise<void> {
  const endMs = performance.now() + FAULTS_MS;
  const attacks = Object.entries(ports).map(async ([host, port]) => [host, await attack(host, port, endMs)] as const);
  const counts = Object.fromEntries(await Promise.all(attacks));
  if (effort(false, true)) console.info(counts);
  for (const [host, { allowed }] of Object.entries(counts)) expect([host, allowed! > 0]).toEqual([host, true]);
}
