import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const FOLDER = join(__dirname, '..');
const TSC = join(FOLDER, '../../node_modules/typescript/bin/tsc');
/**
 * The oldest target that the packages support, with a check of all declarations but those of the language, which would take half of
 * the time, and no types but those that the packages import.
 */
const OPTIONS = {
  target: 'es2021',
  module: 'node16',
  moduleResolution: 'node16',
  types: [],
  skipLibCheck: false,
  skipDefaultLibCheck: true,
  strict: true,
  noEmit: true,
  esModuleInterop: true,
};

/** Type-checks a program that imports these entry points. Returns the errors. */
function typeCheck(entries: readonly string[]): Promise<string> {
  return compile(entries.map((name, index) => `export * as entry${index} from '@rollgate/${name}';`).join('\n'));
}

/** Type-checks a program. Returns the errors. */
async function compile(text: string, options: object = {}): Promise<string> {
  const program = mkdtempSync(join(FOLDER, 'dist-types-'));
  try {
    writeFileSync(join(program, 'program.ts'), text);
    const compilerOptions = { ...OPTIONS, ...options };
    writeFileSync(join(program, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    return await promisify(execFile)(process.execPath, [TSC, '-p', program, '--singleThreaded']).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );
  } finally {
    rmSync(program, { recursive: true });
  }
}

// Together in one program, because none of them may bring the types of Node.
test('packages for other platforms need no types of Node', async () => {
  const dropIns = ['http/drop-in', 'web/better-auth', 'hono/hono-rate-limiter'];
  expect(await typeCheck(['core', 'http', 'web', 'hono', ...dropIns])).toBe('');
});

// Without the types of the frameworks and of the other rate limiters.
test('storages for other rate limiters need no types', async () => {
  const entries = ['express/express-rate-limit', 'fastify/fastify-rate-limit', 'nestjs/throttler'];
  expect(await typeCheck(entries)).toBe('');
});

test('storages have the types that other rate limiters expect', async () => {
  const program = `
    import rateLimitFastify from '@fastify/rate-limit';
    import type { ThrottlerStorage } from '@nestjs/throttler';
    import { RollingWindowStore } from '@rollgate/express/express-rate-limit';
    import { rollingWindowStore } from '@rollgate/fastify/fastify-rate-limit';
    import { RollingWindowStore as HonoStore } from '@rollgate/hono/hono-rate-limiter';
    import { RollingWindowStorage } from '@rollgate/nestjs/throttler';
    import { rollingWindowStorage } from '@rollgate/web/better-auth';
    import type { BetterAuthOptions } from 'better-auth';
    import { rateLimit } from 'express-rate-limit';
    import Fastify from 'fastify';
    import { rateLimiter } from 'hono-rate-limiter';

    const memory = { prefix: 'app' };
    rateLimit({ store: new RollingWindowStore(memory) });
    rateLimiter({ store: new HonoStore(memory), keyGenerator: () => 'ann' });
    Fastify().register(rateLimitFastify, { store: rollingWindowStore(memory) });
    export const storage: ThrottlerStorage = new RollingWindowStorage(memory);
    export const auth: BetterAuthOptions = { rateLimit: { customStorage: rollingWindowStorage(memory) } };
    // @ts-expect-error: no such option
    rollingWindowStorage({ prefixes: 'app' });
    // @ts-expect-error: no storage
    rateLimit({ store: rollingWindowStorage(memory) });`;
  // The declarations of other packages are not these tests' matter.
  const options = { skipLibCheck: true, types: ['node'], target: 'es2022', experimentalDecorators: true };
  expect(await compile(program, options)).toBe('');
});

test.each(['express', 'fastify', 'koa'])('%s needs only the types that its framework brings', async (name) => {
  expect(await typeCheck([name])).toBe('');
});
