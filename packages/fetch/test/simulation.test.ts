import { AlignedWindows, RefillingQuota, RollingQuota } from '@rollgate/test-support/api-quotas';
import { effort } from '@rollgate/test-support/effort';
import { LIMITED_APIS } from '@rollgate/test-support/limited-apis';
import { anthropic, discord, draftHeaders, github, openai, shopify, slack, stripe, xRateLimit } from '../src';
import { runTrial, type Trial } from './simulation/run';

// Four instances share a store, in virtual time. Each has more calls to make than the API allows.

const tokens = (random: () => number) => 200 + Math.floor(random() * 1800);
const LATE = [20, 2000] as const;
const GITHUB = { api: LIMITED_APIS.github, options: { dialects: [github()] } };
const DISCORD = { api: LIMITED_APIS.discord, options: { dialects: [discord()] } };
/** Most of the calls wait from the beginning on, before any response. */
const MANY = { instances: 8, workers: 10 };
const OPENAI = { api: LIMITED_APIS.openai, options: { dialects: [openai()] }, cost: tokens };
const ANTHROPIC = { api: LIMITED_APIS.anthropic, options: { dialects: [anthropic()] }, cost: tokens };
const SHOPIFY = { api: LIMITED_APIS.shopify, options: { dialects: [shopify()] }, cost: tokens };
const DRAFT = { api: LIMITED_APIS.draftHeaders, options: { dialects: [draftHeaders()] } };

const githubQuota = () => new AlignedWindows(200, 4000);
const discordQuota = () => new AlignedWindows(5, 1000);
const openaiQuota = () => new RefillingQuota(30_000, 20_000);
const draftQuota = () => new RollingQuota(50, 5000);

/** A quota whose server lowers it to a half at this second. */
const halvedAt = (second: number, quota = openaiQuota()) => ({
  quota,
  onSecond(passed: number) {
    if (passed === second) quota.limit /= 2;
  },
});

/** A trial, the units that the API allows in its time, and the share of them that must be used. */
type Case = readonly [title: string, trial: Trial, units: number, share: number];

const exact: readonly Case[] = [
  ['GitHub', { quota: githubQuota(), ...GITHUB, seconds: 8 }, 400, 1],
  ['GitHub, 90 seconds ahead', { quota: githubQuota(), ...GITHUB, seconds: 8, aheadMs: 90_000 }, 400, 0.99],
  ['GitHub, 90 seconds behind', { quota: githubQuota(), ...GITHUB, seconds: 8, aheadMs: -90_000 }, 400, 0.99],
  [
    'GitHub, answers after up to 2 s',
    { quota: githubQuota(), ...GITHUB, seconds: 8, latencyMs: LATE, workers: 50 },
    400,
    0.95,
  ],
  ['`X-RateLimit-*`', { quota: githubQuota(), ...GITHUB, options: { dialects: [xRateLimit()] }, seconds: 8 }, 400, 1],
  ['Discord', { quota: discordQuota(), ...DISCORD, seconds: 12 }, 60, 1],
  ['OpenAI', { quota: openaiQuota(), ...OPENAI, seconds: 60 }, 120_000, 0.95],
  [
    'OpenAI, answers after up to 2 s, and most calls wait from the beginning on',
    { quota: new RefillingQuota(60_000, 10_000), ...OPENAI, ...MANY, workers: 50, seconds: 60, latencyMs: LATE },
    420_000,
    0.95,
  ],
  [
    'OpenAI, estimates of twice the cost',
    { quota: openaiQuota(), ...OPENAI, seconds: 120, estimate: 2 },
    210_000,
    0.95,
  ],
  [
    'OpenAI, estimates of half the cost',
    { quota: openaiQuota(), ...OPENAI, seconds: 60, estimate: 0.5 },
    120_000,
    0.95,
  ],
  [
    'OpenAI, estimates of half the cost, and many callers',
    { quota: openaiQuota(), ...OPENAI, ...MANY, seconds: 60, estimate: 0.5 },
    120_000,
    0.95,
  ],
  ['OpenAI, the limit falls to a half', { ...OPENAI, ...halvedAt(30), seconds: 60 }, 97_500, 0.95],
  ['Anthropic', { quota: openaiQuota(), ...ANTHROPIC, seconds: 60 }, 120_000, 0.95],
  ['Anthropic, 90 seconds ahead', { quota: openaiQuota(), ...ANTHROPIC, seconds: 60, aheadMs: 90_000 }, 120_000, 0.95],
  ['Shopify', { quota: openaiQuota(), ...SHOPIFY, seconds: 60 }, 120_000, 0.95],
  ['drafts', { quota: draftQuota(), ...DRAFT, seconds: 20 }, 200, 0.95],
  ['drafts, answers after up to 2 s', { quota: draftQuota(), ...DRAFT, seconds: 20, latencyMs: LATE }, 200, 0.7],
];

/** The others take longer. They have other costs, clocks or numbers of callers. */
const QUICK = [
  'GitHub',
  'GitHub, 90 seconds ahead',
  '`X-RateLimit-*`',
  'Discord',
  'OpenAI',
  'OpenAI, estimates of half the cost, and many callers',
  'OpenAI, calls of others that cost as much as the largest, many callers',
  'drafts',
  'drafts, answers after up to 2 s',
];
const some = (all: readonly Case[]) =>
  effort(
    all.filter(([title]) => QUICK.includes(title)),
    all,
  );

test.each(some(exact))('%s rejects no call, and gets enough of them', async (_, trial, units, share) => {
  const { allowedUnits, rejected } = await runTrial(trial);
  expect(rejected).toBe(0);
  expect(allowedUnits).toBeGreaterThanOrEqual(share * units);
});

/** APIs that report nothing but rejections. */
const SILENT = {
  Slack: { api: LIMITED_APIS.slack, dialects: [slack()] },
  Stripe: { api: LIMITED_APIS.stripe, dialects: [stripe()] },
  '`Retry-After`': { api: LIMITED_APIS.retryAfter, dialects: [] },
};

describe.each(Object.entries(SILENT).slice(0, effort(1, 3)))('%s', (_, { api, dialects }) => {
  const trial = () => ({ api, quota: new AlignedWindows(300, 10_000), seconds: 30 });

  test('rejects no call if its documented limit is an own limit', async () => {
    const options = { dialects, limits: { own: '300/10200ms' } };
    const { allowed, rejected } = await runTrial({ ...trial(), options });
    expect(rejected).toBe(0);
    expect(allowed).toBeGreaterThanOrEqual(0.95 * 900);
  });

  test('may be used up by its rejections alone', async () => {
    const { allowed, rejected } = await runTrial({ ...trial(), options: { dialects } });
    expect(rejected / (allowed + rejected)).toBeLessThanOrEqual(0.5);
    expect(allowed).toBeGreaterThanOrEqual(0.95 * 900);
  });
});

// A client cannot know what others take between two responses. Others use a tenth.
const foreign: readonly Case[] = [
  ['GitHub', { quota: githubQuota(), ...GITHUB, seconds: 8, foreignRate: 0.005 }, 360, 0.95],
  ['Discord', { quota: discordQuota(), ...DISCORD, seconds: 60, foreignRate: 0.0005 }, 270, 0.95],
  ['drafts', { quota: draftQuota(), ...DRAFT, seconds: 20, foreignRate: 0.001 }, 180, 0.95],
  ['OpenAI', { quota: openaiQuota(), ...OPENAI, seconds: 120, foreignRate: 0.15 }, 192_000, 0.95],
  [
    'OpenAI, many callers',
    { quota: openaiQuota(), ...OPENAI, ...MANY, seconds: 120, foreignRate: 0.15 },
    192_000,
    0.95,
  ],
  [
    'OpenAI, calls of others that cost as much, many callers',
    { quota: openaiQuota(), ...OPENAI, ...MANY, seconds: 120, foreignRate: 0.15 / 1100, foreignCost: 1100 },
    192_000,
    0.95,
  ],
  [
    'OpenAI, calls of others that cost as much as the largest, many callers',
    { quota: openaiQuota(), ...OPENAI, ...MANY, seconds: 120, foreignRate: 0.15 / 2000, foreignCost: 2000 },
    192_000,
    0.95,
  ],
  [
    'OpenAI, calls of others that cost twice as much as the largest',
    { quota: openaiQuota(), ...OPENAI, seconds: 400, foreignRate: 0.15 / 4000, foreignCost: 4000 },
    570_000,
    0.95,
  ],
  [
    'OpenAI, calls of others that cost more',
    { quota: openaiQuota(), ...OPENAI, seconds: 400, foreignRate: 0.15 / 2000, foreignCost: 2000 },
    570_000,
    0.95,
  ],
];

test.each(some(foreign))(
  '%s rejects at most 1 % of the calls while others use a tenth',
  async (_, trial, units, share) => {
    const { allowed, allowedUnits, rejected } = await runTrial(trial);
    expect(rejected / (allowed + rejected)).toBeLessThanOrEqual(0.01);
    expect(allowedUnits).toBeGreaterThanOrEqual(share * units);
  },
);

test('the first rejection shows the costs if others have used a part of the quota before', async () => {
  const quota = openaiQuota();
  quota.serve(10_000, Date.parse('2026-03-01T00:00:00Z'));
  const { allowed, allowedUnits, rejected } = await runTrial({
    quota,
    ...OPENAI,
    ...MANY,
    seconds: 120,
    estimate: 0.5,
  });
  expect(rejected / (allowed + rejected)).toBeLessThanOrEqual(0.03);
  expect(allowedUnits).toBeGreaterThanOrEqual(0.95 * 200_000);
});

test('an own limit leaves the start of each window to others', async () => {
  const trial = { ...DISCORD, quota: discordQuota(), seconds: 12, foreignRate: 0.0005, foreignIsEven: true };
  // A call of another client comes first in every second window, when all calls of this one are on their way.
  const full = await runTrial(trial);
  expect(full.rejected).toBeGreaterThanOrEqual(5);
  const limits = { own: '4/1s' };
  const careful = await runTrial({ ...trial, quota: discordQuota(), options: { ...DISCORD.options, limits } });
  expect(careful.rejected).toBe(0);
  expect(careful.allowed).toBeGreaterThanOrEqual(4 * 11);
});

test('a limit that the server lowers holds from the next response on', async () => {
  const quota = githubQuota();
  const onSecond = (second: number) => {
    if (second === 6) quota.limit = 100;
  };
  const { allowed, rejected } = await runTrial({ quota, ...GITHUB, seconds: 16, onSecond });
  expect(rejected).toBeLessThanOrEqual(2);
  expect(allowed).toBeGreaterThanOrEqual(0.95 * (200 + 200 + 100 + 100));
});

test('a limit that the server lowers rejects only calls that are on their way', async () => {
  const quota = githubQuota();
  const serve = quota.serve.bind(quota);
  let served = 0;
  quota.serve = (...call) => {
    served++;
    if (served === 300) quota.limit = 100; // Within the second window, while many calls are on their way.
    return serve(...call);
  };
  const { allowed, rejected, rejectedByKnownLimit } = await runTrial({ quota, ...GITHUB, ...MANY, seconds: 16 });
  expect(rejected).toBeGreaterThan(0);
  expect(rejectedByKnownLimit).toBe(0);
  expect(allowed).toBe(200 + 100 + 100 + 100);
});
