import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';

export interface Outcome {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

const PACKAGE = join(__dirname, '..');

/** Where the sources of this package lie as one module, below its dependencies. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(PACKAGE, 'node_modules/.test-'));
  const options = { bundle: true, format: 'esm', platform: 'node', packages: 'external' } as const;
  for (const name of ['index', 'jest-global-setup']) {
    buildSync({ ...options, entryPoints: [join(PACKAGE, `src/${name}.ts`)], outfile: join(folder, `${name}.mjs`) });
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a script in its own process, outside of Jest. It can use what this package exports, and the global setup. */
export function runInOwnProcess(script: string, env: NodeJS.ProcessEnv = process.env): Promise<Outcome> {
  const { JEST_WORKER_ID: _, ...outside } = env;
  const urlOf = (name: string) => pathToFileURL(join(folder, `${name}.mjs`)).href;
  const imports = `
    import { RedisServer, chromiumBinary, redisServerBinary } from '${urlOf('index')}';
    const setUp = async () => (await import('${urlOf('jest-global-setup')}')).default();`;
  const args = ['--input-type=module', '--eval', imports + script];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { env: outside }, (_, stdout, stderr) => {
      resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr });
    });
  });
}
