import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TSC } from '@rollgate/test-support/compile';

const FOLDER = join(__dirname, '..');
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

interface Program {
  readonly text: string;
  /** The options that differ. */
  readonly options?: object;
}

/** A program that imports these entry points. */
const importing = (...entries: string[]): Program => ({
  text: entries.map((name, index) => `export * as entry${index} from '@rollgate/${name}';`).join('\n'),
});

const TYPES_OF_OTHERS = `
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

const PROGRAMS: Record<string, Program> = {
  // Together in one program, because none of them may bring the types of Node.
  'packages for other platforms need no types of Node': importing(
    ...['core', 'http', 'web', 'hono', 'http/drop-in', 'web/better-auth', 'hono/hono-rate-limiter'],
  ),
  // Without the types of the frameworks and of the other rate limiters.
  'storages for other rate limiters need no types': importing(
    ...['express/express-rate-limit', 'fastify/fastify-rate-limit', 'nestjs/throttler'],
  ),
  'storages have the types that other rate limiters expect': {
    text: TYPES_OF_OTHERS,
    // The declarations of other packages are not these tests' matter.
    options: { skipLibCheck: true, types: ['node'], target: 'es2022', experimentalDecorators: true },
  },
  'express needs only the types that its framework brings': importing('express'),
  'fastify needs only the types that its framework brings': importing('fastify'),
  'koa needs only the types that its framework brings': importing('koa'),
};

/** Type-checks each program alone, all in one process, which reads the declarations once. Returns the errors. */
async function compile(programs: readonly Program[]): Promise<string> {
  const folder = mkdtempSync(join(FOLDER, 'dist-types-'));
  try {
    const projects = programs.map(({ text, options }, index) => {
      const project = join(folder, String(index));
      mkdirSync(project);
      writeFileSync(join(project, 'program.ts'), text);
      const compilerOptions = { ...OPTIONS, ...options };
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
      return project;
    });
    return await promisify(execFile)(TSC, ['-b', ...projects, '--singleThreaded']).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

let together: Promise<string> | undefined;

// The errors do not say which program has them, so each one is checked again if there are any.
test.each(Object.entries(PROGRAMS))('%s', async (_, program) => {
  together ??= compile(Object.values(PROGRAMS));
  if ((await together) !== '') expect(await compile([program])).toBe('');
});
