import { countInstructions as countDecide, WORKS } from '../instructions/decide.mjs';
import { countRequest } from '../instructions/http.js';
import { countInstructions as countRedis, type InstructionTask } from '../redis/instructions.js';
import type { PlainRow } from './row.js';

const OTHER = 'rate-limit-redis';

/**
 * Server instructions of Rollgate divided by those of rate-limit-redis for the same checks. Its fixed window is the same script
 * whatever the limit, so it is the measure for every algorithm.
 */
const AGAINST_OTHER: readonly (readonly [string, InstructionTask, number])[] = [
  ['rolling window, 1 in flight', { subject: 'rollgate', inFlight: 1 }, 2],
  ['rolling window, 4 in flight', { subject: 'rollgate', inFlight: 4 }, 1.4],
  ['rolling window, batches of 64', { subject: 'rollgate', inFlight: 64 }, 0.75],
  ['rolling window, full logs in batches of 64', { subject: 'rollgate', inFlight: 64, hits: 90 }, 0.95],
  ['fixed window, 1 in flight', { subject: 'fixedWindow', inFlight: 1 }, 3.5],
  ['token bucket, 1 in flight', { subject: 'tokenBucket', inFlight: 1 }, 3.8],
  ['rolling and fixed window, 1 in flight', { subject: 'rollgate, rolling and fixed window', inFlight: 1 }, 6],
  ['two rolling windows, batches of 64', { subject: 'rollgate, two windows', inFlight: 64 }, 1.9],
];

const BARS: Readonly<Record<string, number>> = {
  'rolling allowed': 1150,
  'rolling allowed, after a full collection': 1150,
  'rolling rejected': 900,
  'fixed window': 1070,
  'token bucket': 1250,
  'cost 5': 1900,
  'rolling and fixed': 3800,
  'new key': 5000,
};

/** Counts instructions of HTTP servers, in memory and at a Redis server. All at the same time, because counts do not depend on it. */
export async function countPlainInstructions(): Promise<PlainRow[]> {
  return (await Promise.all([countHttp(), countMemory(), countServer()])).flat();
}

const REQUESTS = [
  ['Express 5', 'express', 'allowed'],
  ['Fastify 5', 'fastify', 'allowed'],
  ['Fastify 5', 'fastify', 'rejected'],
] as const;

/** Without a bar: the rows of processor times have it, but scatter too much to show that a request has become slower. */
async function countHttp(): Promise<PlainRow[]> {
  const rows: PlainRow[] = [];
  for (const [title, framework, outcome] of REQUESTS) {
    const value = await countRequest(framework, 'rollgate', outcome);
    rows.push({ what: `${title}, instructions of one request: ${outcome}`, value, isCount: true });
  }
  return rows;
}

async function countMemory(): Promise<PlainRow[]> {
  const rows: PlainRow[] = [];
  for (const work of WORKS) {
    rows.push({
      what: `memory, instructions of one decide(): ${work}`,
      value: await countDecide(work),
      bar: ['at most', BARS[work]!],
      isCount: true,
    });
  }
  return rows;
}

async function countServer(): Promise<PlainRow[]> {
  const tasks = AGAINST_OTHER.flatMap(([, task]) => [task, { ...task, subject: OTHER } as InstructionTask]);
  const counts = (await countRedis(tasks)).map(({ whole }) => whole);
  return AGAINST_OTHER.map(([what, , bar], index) => ({
    what: `Redis, server instructions against ${OTHER}: ${what}`,
    value: counts[2 * index]! / counts[2 * index + 1]!,
    bar: ['at most', bar],
  }));
}
