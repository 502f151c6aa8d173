import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '@rollgate/test-support/compile';
import { transform } from 'esbuild';

export const ROOT = join(__dirname, '../../..');

/** Two programs of a page, by the heading above them. */
export interface Pair {
  heading: string;
  before: string;
  after: string;
}

export const readPage = (page: string) => readFileSync(join(ROOT, 'docs', page), 'utf8');

/** The pairs of a page: code in a fence below a paragraph that begins with "Before" or "After". */
export function pairsOf(page: string): Pair[] {
  return readPage(page)
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const heading = section.slice(0, section.indexOf('\n'));
      const code = (word: string) => {
        const program = new RegExp(`^${word}\\b.*(?:\\n.+)*\\n\\n\`{3}ts fragment\\n([^]*?)^\`{3}$`, 'gm');
        const found = [...section.matchAll(program)];
        if (found.length !== 1) throw new Error(`${page}: "${heading}" has ${found.length} programs for "${word}"`);
        return found[0]![1]!;
      };
      return { heading, before: code('Before'), after: code('After') };
    });
}

/** What the reader's program has above and below the code of the page. */
export const APPS = {
  express: {
    head: `import express from 'express';\nconst app = express();\napp.set('trust proxy', 'loopback');\n`,
    tail: `
app.use((request, response) => response.status(Number(request.query.status ?? 200)).end('allowed'));
export const __listen = () => new Promise((resolve) => {
  const server = app.listen(0, '127.0.0.1', () => resolve(server.address().port));
});`,
  },
  fastify: {
    head: `import Fastify from 'fastify';\nconst app = Fastify({ trustProxy: 'loopback' });\n`,
    tail: `
if (!app.hasRoute({ method: 'GET', url: '/' })) {
  app.get('/', async (request, reply) => reply.code(Number(request.query.status ?? 200)).send('allowed'));
}
export const __listen = async () => {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server.address().port;
};`,
  },
};

const temporary: string[] = [];
afterAll(() => {
  for (const folder of temporary) rmSync(folder, { recursive: true, force: true });
});

/** From here packages are found as the users' code finds them. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(ROOT, 'examples/node_modules/.migration-'));
  temporary.push(folder);
  return folder;
}

export async function expectToCompile([first, ...others]: readonly string[]): Promise<void> {
  expect(await compile(first!, '--strict', ...others)).toBe('');
}

/** Runs all given programs, and reports their ports. */
const HOST = `
const ports = [];
for (const program of process.argv.slice(2)) ports.push(await (await import(program)).__listen());
console.log(JSON.stringify(ports));
`;

/** Runs programs for one of the apps each, all in one process, and returns their ports. */
export async function startPrograms(
  programs: readonly (readonly [app: keyof typeof APPS, source: string])[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly ports: readonly number[]; stop(): Promise<void> }> {
  const folder = makeFolder();
  const files = await Promise.all(
    programs.map(async ([app, source], index) => {
      const { code } = await transform(source, { loader: 'ts', format: 'esm', target: 'es2022' });
      const file = join(folder, `${index}.mjs`);
      writeFileSync(file, code + APPS[app].tail);
      return file;
    }),
  );
  const host = join(folder, 'host.mjs');
  writeFileSync(host, HOST);
  const options = { cwd: folder, env: { ...process.env, NODE_ENV: 'test', ...env } };
  const child = spawn(process.execPath, [host, ...files], options);
  let [printed, complaints] = ['', ''];
  child.stderr.on('data', (chunk) => (complaints += chunk));
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    printed += chunk;
    if (printed.endsWith('\n')) break;
  }
  if (printed === '') throw new Error(complaints);
  const stop = async () => {
    child.kill();
    await once(child, 'exit');
  };
  return { ports: JSON.parse(printed), stop };
}
