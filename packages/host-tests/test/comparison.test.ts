import { type Comparison, runComparison } from '../src/start-hosts.js';

let found: Comparison;
beforeAll(async () => {
  found = await runComparison();
});

test('of 100 parallel requests, a limit of 10 allows 10', () => {
  expect(found.allowed).toEqual({
    'hono-rate-limiter': 10,
    '@rollgate/hono': 10,
    '@nestjs/throttler': 10,
    '@rollgate/nestjs': 10,
  });
});

test('requests that one limit rejects use up no other limit, but do with @nestjs/throttler', () => {
  expect(found.left).toEqual({ '@nestjs/throttler': 10, '@rollgate/nestjs': 18 });
});
