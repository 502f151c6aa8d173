import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@rollgate/test-support/free-port';

// Installs each framework (340 MB for Next.js), builds the app and starts it. So `npm test` skips these tests.
const describeThorough = process.env.ROLLGATE_THOROUGH === '1' ? describe : describe.skip;

const ROOT = join(__dirname, '../..');
const PACKAGES = ['core', 'http', 'web'];

const run = async (cwd: string, program: string, ...args: string[]): Promise<void> => {
  const env = { ...process.env, CI: '1', NEXT_TELEMETRY_DISABLED: '1' };
  await promisify(execFile)(program, args, { cwd, env, maxBuffer: 2 ** 26 }).catch((error) => {
    throw new Error(`${args.join(' ')}\n${error.stdout}${error.stderr}`);
  });
};
const pnpm = (cwd: string, ...args: string[]) => run(cwd, 'npx', '--yes', 'pnpm@12', ...args);

let folder: string;
let children: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollgate-frameworks-'));
  children = [];
});
afterEach(async () => {
  for (const child of children) {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

/** Installs an app with the packages that npm would publish, builds it, and returns its folder. */
async function build(app: string): Promise<string> {
  for (const name of PACKAGES) await pnpm(join(ROOT, 'packages', name), 'pack', '--pack-destination', folder);
  const tarballs = readdirSync(folder);
  const overrides = PACKAGES.map((name) => {
    const tarball = tarballs.find((file) => file.startsWith(`rollgate-${name}-`));
    return `  '@rollgate/${name}': file:${join(folder, tarball!)}\n`;
  });
  const built = join(folder, app);
  cpSync(join(ROOT, 'examples', app), built, { recursive: true });
  const allowed = 'allowBuilds:\n  esbuild: false\n  sharp: false\n';
  writeFileSync(join(built, 'pnpm-workspace.yaml'), `packages: []\n${allowed}overrides:\n${overrides.join('')}`);
  await pnpm(built, 'install', '--no-frozen-lockfile', '--prefer-offline');
  await pnpm(built, 'run', 'build');
  return built;
}

/** Starts the program of an app, and returns its URL once it listens. */
async function start(cwd: string, program: string, ...args: string[]): Promise<string> {
  const port = await freePort();
  const env = { ...process.env, HOST: '127.0.0.1', HOSTNAME: '127.0.0.1', PORT: String(port) };
  const child = spawn(process.execPath, [join(cwd, program), ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    if (/Ready|Listening/.test(String(chunk))) break;
  }
  child.stdout.resume();
  return `http://127.0.0.1:${port}`;
}

/** Sends requests of one client that forges its address. */
async function statuses(url: string, count: number, headers: Record<string, string> = {}): Promise<number[]> {
  const all: number[] = [];
  for (let turn = 0; turn < count; turn++) {
    const response = await fetch(url, { headers: { ...headers, 'X-Forwarded-For': `203.0.113.${turn}` } });
    expect(response.headers.has('x-ratelimit-remaining')).toBe(true);
    expect(response.headers.has('retry-after')).toBe(response.status === 429);
    all.push(response.status);
  }
  return all;
}

describeThorough('in production', () => {
  test('nextjs limits all routes in proxy.ts, and one route in its handler', async () => {
    const url = await start(await build('nextjs'), 'node_modules/next/dist/bin/next', 'start');
    const client = { 'X-Real-IP': '198.51.100.7' };
    expect(await statuses(`${url}/api/search?q=book`, 3, client)).toEqual([200, 200, 429]);
    expect(await statuses(`${url}/api/hello`, 3, client)).toEqual([200, 200, 429]);
    expect(await statuses(`${url}/api/hello`, 1, { 'X-Real-IP': '198.51.100.8' })).toEqual([200]);
  });

  test('sveltekit limits all routes in its handle, but not what its own server requests', async () => {
    const url = await start(await build('sveltekit'), 'build/index.js');
    expect(await (await fetch(`${url}/about`)).text()).toContain('during the build');
    const page = await fetch(url);
    expect(await page.text()).toContain('hello world');
    expect(page.headers.get('x-ratelimit-remaining')).toBe('99');
    expect(await statuses(`${url}/api/hello`, 100)).toEqual([...new Array(99).fill(200), 429]);
  });
});
