import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const FOLDER = join(__dirname, '..');
const TSC = join(FOLDER, '../../node_modules/typescript/bin/tsc');
/** The oldest target that the packages support, with a check of their declarations, and no types but those that they import. */
const OPTIONS = {
  target: 'es2021',
  module: 'node16',
  moduleResolution: 'node16',
  types: [],
  skipLibCheck: false,
  strict: true,
  noEmit: true,
  esModuleInterop: true,
};

/** Type-checks a program that imports these packages. Returns the errors. */
async function typeCheck(packages: readonly string[]): Promise<string> {
  const program = mkdtempSync(join(FOLDER, 'dist-types-'));
  try {
    const imports = packages.map((name) => `export * as ${name} from '@rollgate/${name}';`);
    writeFileSync(join(program, 'program.ts'), imports.join('\n'));
    writeFileSync(join(program, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, files: ['program.ts'] }));
    return await promisify(execFile)(process.execPath, [TSC, '-p', program]).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );
  } finally {
    rmSync(program, { recursive: true });
  }
}

// Together in one program, because none of them may bring the types of Node.
test('packages for other platforms need no types of Node', async () => {
  expect(await typeCheck(['core', 'http', 'web', 'hono'])).toBe('');
});

test.each(['express', 'fastify', 'koa'])('%s needs only the types that its framework brings', async (name) => {
  expect(await typeCheck([name])).toBe('');
});
