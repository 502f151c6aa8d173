import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { TSC } from '@rollgate/test-support/compile';
import { transform } from 'esbuild';
import { type Example, nameOf, ROOT } from './page-examples.js';

const run = promisify(execFile);

const TYPES = join(ROOT, 'node_modules/@types');

/** How long a program may print nothing. Examples may wait for a window to roll, but not forever. */
const LONGEST_MS = 100_000;
/** The timeout of a test that runs this many examples. */
export const timeoutOf = (examples: number): number => (examples + 1) * LONGEST_MS;
export const TIMEOUT_MS: number = timeoutOf(1);

/** The folders in which the workspace has installed the packages that users install. */
const MODULES = [
  ...['examples', 'packages/host-tests', 'packages/store-conformance', 'packages/redis', 'packages/express', '.'],
].map((folder) => join(ROOT, folder, 'node_modules'));

const TYPE_PACKAGES = ['@types/pg', '@types/express', '@types/koa', '@types/supertest', '@types/ws'];

/** Outside of the workspace, code finds only what its folder has installed. */
const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'rollgate-docs-')));
writeFileSync(join(temporary, 'package.json'), '{ "type": "module" }');

export const removePrograms = () => rmSync(temporary, { recursive: true, force: true });

/** Creates a folder with these packages and their peers. Like with pnpm, their own dependencies are out of reach. */
function folderWith(installed: readonly string[]): string {
  const folder = join(temporary, [...installed].sort().join('+').replaceAll('/', '-'));
  if (existsSync(folder)) return folder;
  const peers = ['express', 'fastify', 'hono', 'koa'].filter((name) => installed.includes(`@rollgate/${name}`));
  for (const name of new Set([...installed, ...peers, ...TYPE_PACKAGES])) {
    const source = MODULES.map((modules) => join(modules, name)).find(existsSync);
    if (source === undefined) throw new Error(`The workspace has not installed ${name}`);
    const link = join(folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(realpathSync(source), link);
  }
  return folder;
}

/**
 * The file of an example, without its extension. Code that begins with the comment `// src/name.ts` has this path, so
 * `../src/name.js` leads to it from the other code of the page.
 */
function fileName({ file, line, installed, code }: Example): string {
  const path = /^\/\/ (src\/[\w-]+)\.ts\n/.exec(code)?.[1] ?? `test/${line}`;
  const whole = join(folderWith(installed), file.replaceAll('/', '-'), path);
  mkdirSync(dirname(whole), { recursive: true });
  return whole;
}

/** Writes the code so that its lines have the same numbers as on the page. */
const onItsLines = ({ line, code }: Example, firstLine = '') => `${firstLine}${'\n'.repeat(line)}${code}\n`;

/** Turns the line `expression; // => value` into an assertion. In a declaration, the value is that of the name. */
function assertingLine(line: string): string {
  const [, statement, value] = /^(.+?);?\s*\/\/ => (.+)$/.exec(line) ?? [];
  if (statement === undefined) {
    if (/\/\/ *=>/.test(line)) throw new Error(`Expected \`expression; // => value\` on one line, got: ${line.trim()}`);
    return line;
  }
  const name = /^\s*(?:const|let) (\w+)(?:: [^=]+)? = /.exec(line)?.[1];
  const assertion = `__assert.deepStrictEqual((${name ?? statement.trim()}), (${value}))`;
  return name === undefined ? `;${assertion};` : `${statement}; ${assertion};`;
}

/**
 * The conformance suite with few histories of one algorithm, because its own tests run it with many of all. The store that a page shows
 * passes all of the suite in a program of the page with less than ten histories, which stay.
 */
const withFewRuns = (code: string) =>
  code.replace(/\bruns: \d{2,}(?:, longRun: \d+)?/, "runs: 2, longRun: 100, seed: 1, algorithms: ['fixedWindow']");

/** Runs the given examples one after the other. Needs no free port, and no server keeps the process alive. */
const RUNNER = `
import { once } from 'node:events';
import { Server } from 'node:net';

/** The servers of an example, each with a promise that it listens. */
const servers = new Map();
const { listen } = Server.prototype;
Server.prototype.listen = function (where, ...rest) {
  servers.set(this, once(this, 'listening'));
  return listen.call(this, typeof where === 'object' ? { ...where, port: 0 } : 0, ...rest);
};

/** Sends a request as Cloudflare, Deno and Bun do. */
async function requestFrom(worker) {
  const address = '192.0.2.1';
  const request = new Request('http://localhost/', { headers: { 'cf-connecting-ip': address } });
  const host = { ...process.env, remoteAddr: { hostname: address }, requestIP: () => ({ address }) };
  const response = await worker.fetch(request, host, {});
  if (!response.ok) throw new Error('The worker responded with ' + response.status);
}

for (const example of process.argv.slice(2)) {
  const { default: worker } = await import(example);
  if (worker?.fetch) await requestFrom(worker);
  await Promise.all(servers.values());
  // Only after Node has reported promises that were rejected without a handler.
  await new Promise(setImmediate);
  for (const server of servers.keys()) server.close();
  servers.clear();
  console.log('\\nPassed ' + example);
}
process.exit(0);
`;
writeFileSync(join(temporary, 'run.js'), RUNNER);

/** Writes the program of an example, and returns its URL. */
async function writeProgram(example: Example): Promise<string> {
  const code = withFewRuns(example.code).split('\n').map(assertingLine).join('\n');
  const asserting = onItsLines({ ...example, code }, `import __assert from 'node:assert/strict';`);
  const program = await transform(asserting, {
    loader: example.language,
    format: 'esm',
    target: 'es2022',
    sourcefile: example.file,
    // So the line numbers of stack traces are those of the page.
    sourcemap: 'inline',
    sourceRoot: pathToFileURL(`${ROOT}/`).href,
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
  });
  writeFileSync(`${fileName(example)}.js`, program.code);
  return urlOf(example);
}

const urlOf = (example: Example) => pathToFileURL(`${fileName(example)}.js`).href;

/** Environment variables of the examples, such as the address of a Redis server. */
type Variables = Record<string, string>;

/** Ends a program that prints nothing for too long. A program of many examples may take long together, since it prints after each. */
async function execute(args: string[], variables: Variables): Promise<{ stdout: string }> {
  const options = { cwd: temporary, env: { ...process.env, ...variables } };
  const running = run(process.execPath, args, options);
  // An example may handle SIGTERM.
  const silence = setTimeout(() => running.child.kill('SIGKILL'), LONGEST_MS);
  running.child.stdout!.on('data', () => silence.refresh());
  return running.finally(() => clearTimeout(silence));
}

const hasNodeTests = ({ code }: Example) => /from 'node:test'/.test(code);

export async function runExample(example: Example, variables: Variables = {}): Promise<void> {
  const url = await writeProgram(example);
  const args = hasNodeTests(example) ? [`${fileName(example)}.js`] : [join(temporary, 'run.js'), url];
  await execute(['--enable-source-maps', ...args], variables).catch((error) => {
    const how = error.killed ? `printed nothing for ${LONGEST_MS} ms` : `failed with exit code ${error.code}`;
    // Jest omits the stack trace, and with it the line.
    const output = `${error.stderr}${error.stdout}`;
    const line = Number.parseInt(output.split(`/${example.file}:`)[1]!, 10) || example.line;
    throw new Error(`${nameOf({ ...example, line })} ${how}\n${output}`);
  });
}

/**
 * Runs examples in one process, and returns which ones have passed. A process for each would load the packages each time. When
 * one fails, another process runs those behind it.
 */
export async function runTogether(examples: readonly Example[], variables: Variables): Promise<Set<Example>> {
  const together = examples.filter((example) => !hasNodeTests(example));
  // An example that cannot be prepared is missing here, and fails in its own test.
  const prepared = await Promise.all(together.map((example) => writeProgram(example).catch(() => undefined)));
  let urls = prepared.filter((url) => url !== undefined);
  const passed = new Set<string>();
  while (urls.length > 0) {
    const { stdout } = await execute([join(temporary, 'run.js'), ...urls], variables).catch((error) => error);
    for (const [, url] of stdout.matchAll(/^Passed (.+)$/gm)) passed.add(url);
    urls = urls.slice(urls.findLastIndex((url) => passed.has(url)) + 2);
  }
  return new Set(together.filter((example) => passed.has(urlOf(example))));
}

/** Writes examples as they are on their pages. */
function writeSources(examples: readonly Example[]): string[] {
  return examples.map((example) => {
    const file = `${fileName(example)}.ts`;
    writeFileSync(file, onItsLines(example));
    return file;
  });
}

/** Registers the tests of the examples that are written for Jest. They may import the others. */
export function registerJestTests(examples: readonly Example[]): void {
  writeSources(examples);
  for (const example of examples.filter(({ note }) => note === 'jest')) {
    const file = `${fileName(example)}.test.ts`;
    writeFileSync(file, onItsLines({ ...example, code: withFewRuns(example.code) }));
    describe(nameOf(example), () => {
      require(file);
    });
  }
}

export async function typeCheck(examples: readonly Example[]): Promise<void> {
  const files = writeSources(examples);
  const options = `--ignoreConfig --noEmit --singleThreaded --strict --skipLibCheck --target es2022 --module nodenext --experimentalDecorators --types node,jest --typeRoots ${TYPES}`;
  await run(TSC, [...options.split(' '), ...files], { cwd: temporary }).catch((error) => {
    throw new Error(`${error.stdout}${error.stderr}`);
  });
}
