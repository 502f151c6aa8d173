import { setTimeout as delay } from 'node:timers/promises';
import { RedisServer, until } from '@rollgate/test-support';
import {
  AlignedWindows,
  type ApiQuota,
  RefillingQuota,
  RollingQuota,
  StartedWindows,
} from '@rollgate/test-support/api-quotas';
import { effort } from '@rollgate/test-support/effort';
import { CallingProcesses, type ProcessTrial } from './processes/calling-processes';

// Processes share a private Redis, and have more calls to make than a server on this machine allows. All cases but the first one
// depend on the speed of the machine, so only `npm run test:thorough` runs them. The simulation has more cases in virtual time.

let redis: RedisServer;
let running: CallingProcesses | undefined;
beforeAll(async () => {
  redis = await RedisServer.start();
});
afterEach(async () => {
  running?.stop();
  await redis.run('FLUSHALL');
});
afterAll(() => redis.stop());

type Given = Omit<ProcessTrial, 'redisUrl' | 'processes'>;

async function start(trial: Given, processes: number): Promise<CallingProcesses> {
  running = await CallingProcesses.start({ redisUrl: redis.url, processes, ...trial });
  return running;
}

test('a process goes on after another one was killed', async () => {
  const processes = await start({ api: 'github', quota: new AlignedWindows(20, 1000) }, 2);
  const hasAllowed = (units: number) => until(`${units} are allowed`, async () => processes.counts.allowed >= units);
  await hasAllowed(25);
  processes.kill(1);
  // A busy machine delays some calls into the next window, where they may be rejected.
  await hasAllowed(processes.counts.allowed + 40);
});

interface Case extends Given {
  readonly seconds: number;
  /** The units that the API allows in this time. */
  readonly units: number;
  /** The least share of them that must be used. */
  readonly used?: number;
  /** The greatest share of rejected calls. */
  readonly rejected?: number;
  /** Happens after half of the time. */
  readonly disturb?: (processes: CallingProcesses, quota: ApiQuota) => void;
}

const windows = (): Omit<Case, 'api'> => ({ quota: new AlignedWindows(300, 10_000), seconds: 30, units: 900 });
const tokens = (seconds = 30): Omit<Case, 'api'> => ({
  ...{ quota: new RefillingQuota(60_000, 10_000), costs: [200, 2000], seconds },
  units: 60_000 + 6000 * seconds,
});
/** The window of the own limit is longer than that of the API, because some calls take longer to reach it. */
const documented = () => ({ ...windows(), ownLimit: { limit: 300, window: 10_200 } });
/** Each window begins with a call, which has to arrive first. */
const started = () => ({ quota: new StartedWindows(5, 1000), seconds: 20, units: 100, used: 0.9 });
const rolling = () => ({ ...windows(), quota: new RollingQuota(300, 10_000) });
const late = { latencyMs: [20, 2000], callers: 50 } as const;
/** In each window, many callers learn that it is used up. */
const learned = { rejected: 0.5 };

/** Calls that are on their way when the limit falls may be rejected. On a busy machine, there are some. */
const onTheirWay = { rejected: 0.05 };
/** Others use so many units per second. */
const othersTake = (cost: number, perSecond: number) => ({
  ...{ others: { cost, everyMs: (1000 * cost) / perSecond }, rejected: 0.01 },
});

const killTwo = (processes: CallingProcesses) => processes.kill(2);
const halve = (_: CallingProcesses, quota: ApiQuota) => {
  quota.limit /= 2;
};

const CASES: Readonly<Record<string, () => Case>> = {
  'draft headers': () => ({ api: 'draftHeaders', ...rolling() }),
  '`X-RateLimit-*`': () => ({ api: 'xRateLimit', ...windows() }),
  GitHub: () => ({ api: 'github', ...windows() }),
  OpenAI: () => ({ api: 'openai', ...tokens() }),
  Anthropic: () => ({ api: 'anthropic', ...tokens() }),
  Discord: () => ({ api: 'discord', ...started() }),
  Shopify: () => ({ api: 'shopify', ...tokens() }),
  'Stripe, with its documented limit': () => ({ api: 'stripe', ...documented() }),
  'Slack, with its documented limit': () => ({ api: 'slack', ...documented() }),
  '`Retry-After`, with a documented limit': () => ({ api: 'retryAfter', ...documented() }),
  'Stripe, by its rejections alone': () => ({ api: 'stripe', ...windows(), ...learned }),
  'Slack, by its rejections alone': () => ({ api: 'slack', ...windows(), ...learned }),
  '`Retry-After` alone': () => ({ api: 'retryAfter', ...windows(), ...learned }),
  'GitHub, responses after up to 2 s': () => ({ api: 'github', ...windows(), ...late }),
  'OpenAI, responses after up to 2 s': () => ({ api: 'openai', ...tokens(60), ...late, used: 0.9 }),
  'GitHub, 90 s ahead': () => ({ api: 'github', ...windows(), aheadMs: 90_000 }),
  'GitHub, 90 s behind': () => ({ api: 'github', ...windows(), aheadMs: -90_000 }),
  'Anthropic, 90 s ahead': () => ({ api: 'anthropic', ...tokens(), aheadMs: 90_000 }),
  'GitHub, two processes are killed': () => ({ api: 'github', ...windows(), disturb: killTwo }),
  'OpenAI, two processes are killed': () => ({ api: 'openai', ...tokens(), disturb: killTwo }),
  'GitHub, others use a tenth': () => ({ api: 'github', ...windows(), ...othersTake(1, 3) }),
  'OpenAI, others use a tenth': () => ({ api: 'openai', ...tokens(), ...othersTake(10, 600) }),
  'OpenAI, others make calls as large': () => ({ api: 'openai', ...tokens(60), ...othersTake(1100, 600) }),
  'GitHub, the limit falls to a half': () => ({
    api: 'github',
    ...windows(),
    units: 750,
    disturb: halve,
    ...onTheirWay,
  }),
  'OpenAI, the limit falls to a half': () => ({ api: 'openai', ...tokens(), units: 195_000, disturb: halve }),
  'OpenAI, estimates of half the cost': () => ({ api: 'openai', ...tokens(), estimate: 0.5 }),
  'OpenAI, estimates of twice the cost': () => ({ api: 'openai', ...tokens(), estimate: 2 }),
};

for (const [title, create] of Object.entries(effort({}, CASES))) {
  test(title, async () => {
    const { seconds, units, used = 0.95, rejected = 0, disturb, ...trial } = create();
    const processes = await start(trial, 8);
    await delay(seconds * 500);
    disturb?.(processes, trial.quota);
    await delay(seconds * 500);
    const counts = { ...processes.counts };
    const shares = {
      used: counts.allowedUnits / (units - counts.foreignUnits),
      rejected: counts.rejected / (counts.allowed + counts.rejected),
    };
    expect(shares.rejected).toBeLessThanOrEqual(rejected);
    expect(shares.used).toBeGreaterThanOrEqual(used);
  });
}
