import { RedisServer } from '@rollgate/test-support';
import { measureRounds, perRound, type Subject } from '../http/rounds.js';
import { type AnyLimiterName, FRAMEWORKS } from '../http/subjects.js';
import { median } from '../statistics.js';
import { canPin } from '../worker.js';
import type { PlainRow } from './row.js';

/** A server may be faster or slower for good from its start on, so each starts three times. */
const EFFORT = { starts: 3, rounds: 4, roundMs: 400, warmUpMs: 1_000 };
const LOAD_CORE = 1;

const ALLOWED = ['none', 'rollgate', 'alternative', 'rollgate on Redis', 'alternative on Redis'] as const;

/** Compares what a limiter adds to a server's processor time for each request. */
export async function measurePlainHttp(): Promise<PlainRow[]> {
  const redis = await RedisServer.start(canPin ? { core: LOAD_CORE } : {});
  try {
    const express = await measureRounds('express', { allowed: ALLOWED, rejected: [] }, EFFORT, true, redis.url);
    const fastify = await measureRounds(
      'fastify',
      { allowed: ALLOWED, rejected: ['rollgate'] },
      EFFORT,
      true,
      redis.url,
    );
    return [
      ...toRows('express', express, 0.45),
      ...toRows('fastify', fastify, 0.5),
      {
        what: 'Fastify, a rejected request against the bare server',
        value: median(perRound(subjectOf(fastify, 'rollgate', 'rejected'), subjectOf(fastify, 'none'), divide)),
        bar: ['at most', 1.15],
      },
    ];
  } finally {
    await redis.stop();
  }
}

const divide = (one: number, other: number) => one / other;

function subjectOf(subjects: readonly Subject[], limiter: AnyLimiterName, outcome = 'allowed'): Subject {
  return subjects.find((subject) => subject.limiter === limiter && subject.outcome === outcome)!;
}

function toRows(framework: 'express' | 'fastify', subjects: readonly Subject[], bar: number): PlainRow[] {
  const added = (limiter: AnyLimiterName) =>
    median(perRound(subjectOf(subjects, limiter), subjectOf(subjects, 'none'), (one, other) => one - other));
  const { title, alternative } = FRAMEWORKS[framework];
  return [
    {
      what: `${title}, CPU added against ${alternative}`,
      value: added('rollgate') / added('alternative'),
      bar: ['at most', bar],
    },
    {
      what: `${title} on Redis, CPU added against ${alternative} on Redis`,
      value: added('rollgate on Redis') / added('alternative on Redis'),
      bar: ['at most', 0.4],
    },
  ];
}
