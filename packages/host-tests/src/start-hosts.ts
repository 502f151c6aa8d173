import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { DENO_ARGUMENTS, PLATFORM_PROGRAMS } from '@rollgate/test-support/platform-programs';
import type { RestFront } from '@rollgate/test-support/rest-front';
import { build } from 'esbuild';

const FOLDER = join(__dirname, '..');
/** Inside the package, but not in node_modules, so that every platform finds the installed packages. */
const BUILT = join(FOLDER, 'dist');

/** The hosts that a process serves: the port of each, by name. */
export interface HostProcess {
  readonly ports: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

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
  const { lines, stop } = await startPrintingLines(program, args, 1, env);
  return { ports: JSON.parse(lines[0]!), stop };
}

/** Starts a program, and waits until it has printed so many lines. */
async function startPrintingLines(
  program: string,
  args: readonly string[],
  count: number,
  env?: Record<string, string>,
): Promise<{ readonly lines: readonly string[]; stop(): Promise<void> }> {
  const child = start(program, args, env);
  const lines: string[] = [];
  const printed = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (lines.push(line) === count) resolve();
    });
  });
  const exited = once(child, 'exit').then(() => {
    throw new Error(`${program} ${args.join(' ')} ended before it served`);
  });
  await Promise.race([printed, exited]);
  exited.catch(() => {}); // It ends when the tests stop it.
  return { lines, stop: () => stop(child) };
}

export const startNodeHosts = async () => startPrinting(process.execPath, [await bundle('main-node')]);

/** A gateway and a GraphQL server of NestJS. */
export const startNestHosts = async () => startPrinting(process.execPath, [await bundle('main-nest')]);

/** Bun applies the paths of a package's tsconfig.json to its published files too, and would load sources next to them. */
const BUN_ARGUMENTS = [`--tsconfig-override=${devNull}`];

export const startBunHosts = async () =>
  startPrinting(PLATFORM_PROGRAMS.bun(), [...BUN_ARGUMENTS, await bundle('main-bun')]);

export async function startDenoHosts(): Promise<HostProcess> {
  const file = await bundle('main-deno');
  return startPrinting(PLATFORM_PROGRAMS.deno(), [...DENO_ARGUMENTS, '--v8-flags=--expose-gc', file], {
    DENO_NO_UPDATE_CHECK: '1',
  });
}

const WORKERS = { 'Fetch on workerd': 'worker-web', 'Hono on workerd': 'worker-hono' };

/** Bundles a worker as its platform would: with its conditions, without Node's modules. Returns the name of the file. */
async function bundleWorker(entry: string): Promise<string> {
  const file = `${basename(entry, '.ts')}.mjs`;
  await build({
    entryPoints: [entry],
    outfile: join(BUILT, file),
    bundle: true,
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker', 'browser'],
    // Otherwise the paths of a package's tsconfig.json lead from its published files to the sources of others.
    tsconfigRaw: {},
    format: 'esm',
    logLevel: 'warning',
  });
  return file;
}

/** Starts workers in one process. */
export async function startWorkerdHosts(): Promise<HostProcess> {
  const services: Record<string, string> = {};
  for (const [name, entry] of Object.entries(WORKERS)) {
    await bundleWorker(join(FOLDER, `src/${entry}.ts`));
    services[name] = `(name = "${name}", worker = (
      modules = [(name = "${entry}.mjs", esModule = embed "${entry}.mjs")],
      compatibilityDate = "2026-01-01", compatibilityFlags = ["enable_request_signal"]))`;
  }
  return startWorkerd('workers', services);
}

/** Starts a worker that has the binding LIMITERS to its Durable Object class, whose storage is in a folder. */
export async function startDurableObject(entry: string, folder: string): Promise<HostProcess> {
  const file = await bundleWorker(entry);
  const worker = `(name = "worker", worker = (
      modules = [(name = "${file}", esModule = embed "${file}")], compatibilityDate = "2026-01-01",
      durableObjectNamespaces = [(className = "ClientLimiter", uniqueKey = "limiter", enableSql = true)],
      durableObjectStorage = (localDisk = "disk"),
      bindings = [(name = "LIMITERS", durableObjectNamespace = "ClientLimiter")]))`;
  return startWorkerd(file, { worker }, `(name = "disk", disk = (path = "${folder}", writable = true))`);
}

/** Starts a worker whose Redis has a REST front. */
export async function startWorkerWithRedis(front: RestFront): Promise<HostProcess> {
  const file = await bundleWorker(join(FOLDER, 'src/worker-redis.ts'));
  const worker = `(name = "worker", worker = (
      modules = [(name = "${file}", esModule = embed "${file}")], compatibilityDate = "2026-01-01",
      bindings = [(name = "URL", text = "${front.url}"), (name = "TOKEN", text = "${front.token}")]))`;
  return startWorkerd(file, { worker }, '(name = "internet", network = (allow = ["private"]))');
}

/** Starts the services, each on a port that the system chooses. So no other process can take the port before. */
async function startWorkerd(name: string, services: Record<string, string>, helper?: string): Promise<HostProcess> {
  const sockets = Object.keys(services).map(
    (service) => `(name = "${service}", address = "127.0.0.1:0", http = (), service = "${service}")`,
  );
  const config = join(BUILT, `${name}.capnp`);
  const all = [...Object.values(services), ...(helper === undefined ? [] : [helper])];
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (v8Flags = ["--expose-gc"], services = [${all.join(', ')}], sockets = [${sockets.join(', ')}]);\n`,
  );
  const arguments_ = ['serve', '--experimental', '--control-fd=1', config];
  const { lines, stop } = await startPrintingLines(PLATFORM_PROGRAMS.workerd(), arguments_, sockets.length);
  const ports = lines.map((line) => JSON.parse(line) as { readonly socket: string; readonly port: number });
  return { ports: Object.fromEntries(ports.map(({ socket, port }) => [socket, port])), stop };
}

/** What a client saw of servers with other rate limiters, by the limiter and by what its storage uses. */
export type DropInResults = Record<string, Record<'memory' | 'redis' | 'failing', object>>;

/** Runs other rate limiters with Rollgate's storages. */
export async function runDropIns(redisUrl: string): Promise<DropInResults> {
  const program = await bundle('main-drop-in');
  const dropIns = await startPrinting<DropInResults>(process.execPath, [program], { REDIS_URL: redisUrl });
  await dropIns.stop();
  return dropIns.ports;
}
