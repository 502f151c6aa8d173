/** @jest-config-loader esbuild-register */
import { availableParallelism } from 'node:os';
import type { Config } from 'jest';

/**
 * Each test file runs in its own context, where looking up a global is slow. These become parameters of each module
 * instead: without them, property tests take more than twice as long.
 */
const HOT_GLOBALS = [
  'Array',
  'BigInt',
  'Infinity',
  'JSON',
  'Map',
  'Math',
  'Number',
  'Object',
  'Set',
  'String',
  'Symbol',
];

// Workers take 60 MB less: with fewer arenas, glibc keeps less freed memory, and V8 collects young objects earlier.
// With `--optimize-for-size` or a small heap they would take half, but the explorer up to twice the CPU.
process.env.MALLOC_ARENA_MAX ??= '2';
process.execArgv.push('--max-semi-space-size=4');
// The code of a test file runs briefly, in a context of its own, and the workers alone keep all cores busy. So the run takes 7 % less time
// when V8 optimizes later, keeps its bytecode, and collects garbage without threads.
process.execArgv.push('--interrupt-budget=400000', '--no-flush-bytecode', '--single-threaded-gc');
// A compiler of TypeScript or esbuild takes a quarter less CPU and 40 MB more when it collects its garbage less often.
process.env.GOGC ??= '400';

const config: Config = {
  roots: ['<rootDir>/packages', '<rootDir>/examples', '<rootDir>/test'],
  testMatch: ['**/test/**/*.test.ts'],
  // This finds hangs, not slowness: a busy machine may need ten times as long as an idle one.
  testTimeout: process.env.ROLLGATE_THOROUGH === '1' ? 3_600_000 : 120_000,
  // Two more than cores, because one of them mostly waits for the browser, and others for servers and processes.
  maxWorkers: availableParallelism() + 2,
  // A worker that has grown starts again, so that the processes of Jest together take less than 1.2 GB.
  workerIdleMemoryLimit: '150MB',
  globalSetup: '<rootDir>/packages/test-support/src/jest-global-setup.ts',
  setupFiles: ['<rootDir>/packages/test-support/src/channels.ts'],
  sandboxInjectedGlobals: HOT_GLOBALS,
  transform: {
    '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } } }],
  },
  moduleNameMapper: {
    // Tests run on the sources; what is published is tested as tarballs, by packages.test.ts.
    '^@rollgate/core/store$': '<rootDir>/packages/core/src/store-api.ts',
    '^@rollgate/redis/waiting$': '<rootDir>/packages/redis/src/waiting-api.ts',
    '^@rollgate/calendar/window$': '<rootDir>/packages/calendar/src/window.ts',
    '^@rollgate/core/(limits|leases|cached-limits|observe|credit)$': '<rootDir>/packages/core/src/$1-api.ts',
    '^@rollgate/fetch/outgoing$': '<rootDir>/packages/fetch/src/outgoing.ts',
    '^@rollgate/http/(app|drop-in)$': '<rootDir>/packages/http/src/$1-api.ts',
    '^@rollgate/([^/]+)/(express-rate-limit|fastify-rate-limit|hono-rate-limiter|better-auth|throttler)$':
      '<rootDir>/packages/$1/src/$2.ts',
    '^@rollgate/fetch/undici$': '<rootDir>/packages/fetch/src/undici.ts',
    '^@rollgate/nestjs/fastify$': '<rootDir>/packages/nestjs/src/fastify.ts',
    '^@rollgate/([^/]+)$': '<rootDir>/packages/$1/src/index.ts',
    '^@rollgate/(host-tests|test-support)/(.+)$': '<rootDir>/packages/$1/src/$2.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
};

export default config;
