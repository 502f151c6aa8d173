import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '@rollgate/test-support/free-port';
import { build } from 'esbuild';

const FOLDER = join(__dirname, '..');
/** Inside the package, but not in node_modules, so that every platform finds the installed packages. */
const BUILT = join(FOLDER, 'dist');

/** The hosts that a process serves: the port of each, by name. */
export interface HostProcess {
  readonly ports: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

const requireHere = createRequire(join(FOLDER, 'package.json'));

/** Returns the path of a file in a package that only another package depends on. */
function resolveFrom(owner: string, path: string): string {
  return requireHere.resolve(path, { paths: [dirname(requireHere.resolve(`${owner}/package.json`))] });
}

const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'x64';

/** The programs that the packages of the platforms contain. */
const PROGRAMS = {
  bun: () => resolveFrom('bun', `@oven/bun-${process.platform}-${ARCHITECTURE.replace('arm', 'aarch')}/bin/bun`),
  deno: () =>
    resolveFrom(
      'deno',
      `@deno/${process.platform}-${ARCHITECTURE}${process.platform === 'linux' ? '-glibc' : ''}/deno`,
    ),
  workerd: () =>
    resolveFrom('workerd', `@cloudflare/workerd-${process.platform}-${ARCHITECTURE.replace('x', '')}/bin/workerd`),
};

/** Bundles the host programs. Their dependencies stay outside, so that each platform resolves the published files. */
async function bundle(name: string): Promise<string> {
  const outfile = join(BUILT, `${name}.mjs`);
  await build({
    entryPoints: [join(FOLDER, `src/${name}.ts`)],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
  });
  return outfile;
}

function start(program: string, args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  return spawn(program, args, { cwd: FOLDER, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Starts a program that prints its ports as JSON. */
async function startPrinting<Printed = HostProcess['ports']>(
  program: string,
  args: readonly string[],
  env?: Record<string, string>,
): Promise<{ readonly ports: Printed; stop(): Promise<void> }> {
  const child = start(program, args, env);
  const exited = once(child, 'exit').then(() => {
    throw new Error(`${program} ${args.join(' ')} ended before it served`);
  });
  const [line] = await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), exited]);
  exited.catch(() => {}); // It ends when the tests stop it.
  return { ports: JSON.parse(line), stop: () => stop(child) };
}

export const startNodeHosts = async () => startPrinting(process.execPath, [await bundle('main-node')]);

/** A gateway and a GraphQL server of NestJS. */
export const startNestHosts = async () => startPrinting(process.execPath, [await bundle('main-nest')]);

export const startBunHosts = async () => startPrinting(PROGRAMS.bun(), [await bundle('main-bun')]);

export async function startDenoHosts(): Promise<HostProcess> {
  const file = await bundle('main-deno');
  const args = ['run', '--no-lock', '--no-remote', '--node-modules-dir=manual', '--no-check', '-A', file];
  return startPrinting(PROGRAMS.deno(), args, { DENO_NO_UPDATE_CHECK: '1' });
}

const WORKERS = { 'Fetch on workerd': 'worker-web', 'Hono on workerd': 'worker-hono' };

/** Starts workers as their platform would: bundled, with its conditions, without Node's modules. */
export async function startWorkerdHosts(): Promise<HostProcess> {
  mkdirSync(BUILT, { recursive: true });
  const ports: Record<string, number> = {};
  const services: string[] = [];
  const sockets: string[] = [];
  for (const [name, entry] of Object.entries(WORKERS)) {
    await build({
      entryPoints: [join(FOLDER, `src/${entry}.ts`)],
      outfile: join(BUILT, `${entry}.mjs`),
      bundle: true,
      platform: 'neutral',
      mainFields: ['module', 'main'],
      conditions: ['workerd', 'worker', 'browser'],
      format: 'esm',
      logLevel: 'warning',
    });
    ports[name] = await freePort();
    services.push(`(name = "${entry}", worker = (
      modules = [(name = "${entry}.mjs", esModule = embed "${entry}.mjs")],
      compatibilityDate = "2026-01-01", compatibilityFlags = ["enable_request_signal"]))`);
    sockets.push(`(name = "${entry}", address = "127.0.0.1:${ports[name]}", http = (), service = "${entry}")`);
  }
  const config = join(BUILT, 'workers.capnp');
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [${services.join(', ')}], sockets = [${sockets.join(', ')}]);\n`,
  );
  const child = start(PROGRAMS.workerd(), ['serve', config]);
  await Promise.all(Object.values(ports).map(waitForPort));
  return { ports, stop: () => stop(child) };
}

async function waitForPort(port: number): Promise<void> {
  for (let attempt = 0; attempt < 3000; attempt++) {
    const isOpen = await fetch(`http://127.0.0.1:${port}/control/limited/nobody`).then(
      async (response) => (await response.text()) !== '',
      () => false,
    );
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`Nothing listens on port ${port}`);
}

/** How many requests each limiter has allowed, and what it has left of the wider of two limits. */
export type Comparison = Record<'allowed' | 'left', Record<string, number>>;

/** Runs the comparison with other limiters. */
export async function runComparison(): Promise<Comparison> {
  const comparison = await startPrinting<Comparison>(process.execPath, [await bundle('main-comparison')]);
  await comparison.stop();
  return comparison.ports;
}
