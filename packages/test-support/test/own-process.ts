import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';

export interface Outcome {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

const tsx = pathToFileURL(require.resolve('tsx', { paths: [`${__dirname}/../../../examples`] })).href;
const sources = pathToFileURL(`${__dirname}/../src/index.ts`).href;

/** Runs a script in a process of its own, outside of Jest. What this package exports is there by name. */
export function runInOwnProcess(script: string, env: NodeJS.ProcessEnv = process.env): Promise<Outcome> {
  const { JEST_WORKER_ID: _, ...outside } = env;
  const imports = `import { RedisServer, chromiumBinary, redisServerBinary } from '${sources}';`;
  const args = ['--import', tsx, '--input-type=module', '--eval', imports + script];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { env: outside }, (_, stdout, stderr) => {
      resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr });
    });
  });
}
