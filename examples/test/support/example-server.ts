import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export const FOLDER = join(__dirname, '../..');
export const TSX = join(FOLDER, 'node_modules/.bin/tsx');

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null) continue;
    child.kill();
    await once(child, 'exit');
  }
});

/** Starts an example server on a free port, and answers with what it printed up to its last line. */
export async function start(
  file: string,
  env: Record<string, string | undefined> = {},
): Promise<{ url: string; printed: string }> {
  const child = spawn(TSX, [file], { cwd: FOLDER, env: { ...process.env, PORT: '0', ...env } });
  children.push(child);
  let printed = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    printed += chunk;
    if (printed.includes('Ctrl-C')) break;
  }
  child.stdout.resume(); // What it prints later is not to wait, nor to fail.
  return { url: printed.match(/http:\/\/127\.0\.0\.1:\d+/)![0], printed };
}

export async function statuses(url: string, count: number, init?: RequestInit): Promise<number[]> {
  const found: number[] = [];
  for (let turn = 0; turn < count; turn++) found.push((await fetch(url, init)).status);
  return found;
}
