import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../packages/cli/dist/main.js', import.meta.url));
/** The folder whose packages the command uses. */
const FOLDER = fileURLToPath(new URL('..', import.meta.url));

/** Code that makes the process report its own usage when it ends. */
const REPORT_USAGE = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => process.stderr.write(JSON.stringify(process.resourceUsage())))",
)}`;

interface CommandFigures {
  readonly output: string;
  readonly seconds: number;
  /** Of all threads, such as the compiler's and the garbage collector's. */
  readonly cpuSeconds: number;
  readonly peakMb: number;
}

export async function runCommand(args: readonly string[]): Promise<CommandFigures> {
  const start = performance.now();
  const child = spawn(process.execPath, ['--import', REPORT_USAGE, CLI, ...args], {
    cwd: FOLDER,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, usage] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (usage += text));
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (code !== 0) throw new Error(`rollgate ${args.join(' ')} ended with ${code}: ${usage}`);
  const seconds = (performance.now() - start) / 1000;
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(usage) as NodeJS.ResourceUsage;
  return { output, seconds, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakMb: maxRSS / 1024 };
}
