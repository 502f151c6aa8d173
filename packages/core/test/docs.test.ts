import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { startRedis } from '@rollgate/test-support';
import { transform } from 'esbuild';

const run = promisify(execFile);

const ROOT = join(__dirname, '../../..');
const TYPES = join(ROOT, 'node_modules/@types');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

/** Examples may wait for a window to roll, but not forever. */
const LONGEST_MS = 100_000;
const TIMEOUT_MS = 2 * LONGEST_MS;

/**
 * The code in a fence of Markdown or of a doc comment. `no-run` after the language marks code that needs something
 * that is not here, so it is only type-checked. `fragment` marks incomplete code, which is not checked at all.
 */
interface Example {
  file: string;
  /** The line of the fence; the code begins on the next. */
  line: number;
  language: 'ts' | 'js';
  note: string;
  code: string;
  /** The packages that its reader has installed: those of the install line above it, or else the one that it imports. */
  installed: readonly string[];
}

/** Matches `npm install a b`, but no global installation. */
const INSTALL_LINE = /\bnpm install (?!--global)(?:--save-dev )?([\w@/. -]+)/;

const ADAPTERS = [
  ...['core', 'express', 'fastify', 'hono', 'http', 'koa', 'nestjs', 'node', 'web'].map((name) => `@rollgate/${name}`),
];

/** The packages without an install line: one package of Rollgate, and those that are not adapters. */
function importedBy(code: string): string[] {
  const imported = [...code.matchAll(/from '((?:@[\w-]+\/)?[\w-]+)['/]/g)].map(([, name]) => name!);
  const [first] = imported.filter((name) => ADAPTERS.includes(name));
  return imported.filter((name) => name === first || !ADAPTERS.includes(name));
}

/** Git's patterns of the pages. The generated pages of the site are not among them. */
const PAGES = ['README.md', 'packages/*/README.md', 'docs/*.md'];

const LANGUAGES: Record<string, Example['language']> = { ts: 'ts', typescript: 'ts', js: 'js', javascript: 'js' };

function linesOf(file: string): string[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  // Lines outside of doc comments become empty, so that the others keep their numbers.
  return file.endsWith('.ts') ? lines.map((line) => /^\s*\* ?(.*)$/.exec(line)?.[1] ?? '') : lines;
}

function examplesIn(file: string, lines = linesOf(file)): Example[] {
  const examples: Example[] = [];
  let open: { fence: string; info: string; line: number } | undefined;
  let installed: string[] | undefined;
  for (const [index, line] of lines.entries()) {
    installed = INSTALL_LINE.exec(line)?.[1]?.trim().split(' ') ?? installed;
    if (open === undefined) {
      const [, fence, info = ''] = /^\s*(`{3,})(.*)$/.exec(line) ?? [];
      if (fence !== undefined) open = { fence, info, line: index + 1 };
    } else if (line.trim() === open.fence) {
      const [word = '', ...notes] = open.info.trim().split(/\s+/);
      const language = LANGUAGES[word];
      if (language !== undefined) {
        const code = lines.slice(open.line, index).join('\n');
        examples.push({
          file,
          line: open.line,
          language,
          note: notes.join(' '),
          code,
          installed: installed ?? importedBy(code),
        });
      }
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`${file}:${open.line}: the code has no end`);
  return examples;
}

/** The files with this extension in a folder and its subfolders, as paths from the root. */
function filesIn(folder: string, extension: string): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension))
    .map((name) => `${folder}/${name}`)
    .sort();
}

const packages = readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`);
const sources = packages.flatMap((folder) => filesIn(`${folder}/src`, '.ts'));
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...PAGES], { cwd: ROOT });
const pages = listed
  .toString()
  .trim()
  .split('\n')
  .filter((page) => existsSync(join(ROOT, page)));
const examples = [...pages, ...sources].flatMap((file) => examplesIn(file));

const nameOf = ({ file, line }: Example) => `${file}:${line}`;
/** Writes one file per example, whose lines have the same numbers as on the page. */
const fileName = ({ file, line, installed }: Example, extension: string) =>
  join(folderWith(installed), `${file.replaceAll('/', '-')}-${line}${extension}`);

/** The folders in which the workspace has installed the packages that users install. */
const SOURCES = ['examples', 'packages/host-tests', 'packages/store-conformance', 'packages/redis', '.'].map((folder) =>
  join(ROOT, folder, 'node_modules'),
);

/** Creates a folder with these packages and their peers. Like with pnpm, their own dependencies are out of reach. */
function folderWith(installed: readonly string[]): string {
  const folder = join(temporary, [...installed].sort().join('+').replaceAll('/', '-'));
  if (existsSync(folder)) return folder;
  const frameworks = ['express', 'fastify', 'hono', 'koa'].filter((name) => installed.includes(`@rollgate/${name}`));
  for (const name of new Set([...installed, ...frameworks, '@types/express', '@types/koa', '@types/ws'])) {
    const source = SOURCES.map((modules) => join(modules, name)).find(existsSync);
    if (source === undefined) throw new Error(`The workspace has not installed ${name}`);
    const link = join(folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(realpathSync(source), link);
  }
  return folder;
}
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

/** Runs the given examples one after the other. Needs no free port, and no server keeps the process alive. */
const RUNNER = `
import { once } from 'node:events';
import { Server } from 'node:net';

const servers = [];
const { listen } = Server.prototype;
Server.prototype.listen = function (where, ...rest) {
  servers.push(this);
  return listen.call(this, typeof where === 'object' ? { ...where, port: 0 } : 0, ...rest);
};

for (const example of process.argv.slice(2)) {
  await import(example);
  await Promise.all(servers.map((server) => server.listening || once(server, 'listening')));
  // Only after Node has reported promises that were rejected without a handler.
  await new Promise(setImmediate);
  for (const server of servers.splice(0)) server.close();
  console.log('\\nPassed ' + example);
}
process.exit(0);
`;

let temporary: string;
/** A Redis server for the examples that need one. */
let redis: Awaited<ReturnType<typeof startRedis>>;

beforeAll(async () => {
  redis = await startRedis();
  // Outside of the workspace, code finds only what its folder has installed.
  temporary = mkdtempSync(join(tmpdir(), 'rollgate-docs-'));
  writeFileSync(join(temporary, 'run.mjs'), RUNNER);
});

afterAll(async () => {
  rmSync(temporary, { recursive: true, force: true });
  await redis.stop();
});

/** Writes the program of an example, and returns its URL. */
async function writeProgram(example: Example): Promise<string> {
  const asserting = { ...example, code: example.code.split('\n').map(assertingLine).join('\n') };
  const { code } = await transform(onItsLines(asserting, `import __assert from 'node:assert/strict';`), {
    loader: example.language,
    format: 'esm',
    target: 'es2022',
    sourcefile: example.file,
    // So the line numbers of stack traces are those of the page.
    sourcemap: 'inline',
    sourceRoot: pathToFileURL(`${ROOT}/`).href,
  });
  const program = fileName(example, '.mjs');
  writeFileSync(program, code);
  return pathToFileURL(program).href;
}

function runPrograms(urls: string[]): Promise<{ stdout: string }> {
  const args = ['--enable-source-maps', join(temporary, 'run.mjs'), ...urls];
  const env = { ...process.env, REDIS_URL: redis.url };
  return run(process.execPath, args, { cwd: temporary, timeout: LONGEST_MS, env });
}

async function runExample(example: Example): Promise<void> {
  await runPrograms([await writeProgram(example)]).catch((error) => {
    const how = error.killed ? `did not end within ${LONGEST_MS} ms` : `failed with exit code ${error.code}`;
    // Jest omits the stack trace, and with it the line.
    const line = Number.parseInt(error.stderr.split(`/${example.file}:`)[1], 10) || example.line;
    throw new Error(`${nameOf({ ...example, line })} ${how}\n${error.stdout}${error.stderr}`);
  });
}

/** The output of a process that runs examples until one fails. A process for each would load the packages each time. */
let together: Promise<string> | undefined;

async function runTogether(): Promise<string> {
  // An example that cannot be prepared is missing here, and fails in its own test.
  const urls = await Promise.all(runExamples.map((example) => writeProgram(example).catch(() => undefined)));
  const { stdout } = await runPrograms(urls.filter((url) => url !== undefined)).catch((error) => error);
  return stdout;
}

async function passesTogether(example: Example): Promise<boolean> {
  together ??= runTogether();
  return (await together).split('\n').includes(`Passed ${pathToFileURL(fileName(example, '.mjs')).href}`);
}

async function typeCheck(typed: Example[]): Promise<void> {
  const files = typed.map((example) => {
    const file = fileName(example, '.mts');
    writeFileSync(file, onItsLines(example));
    return file;
  });
  const options = `--ignoreConfig --noEmit --singleThreaded --strict --skipLibCheck --target es2022 --module nodenext --types node --typeRoots ${TYPES}`;
  await run(process.execPath, [TSC, ...options.split(' '), ...files], { cwd: temporary }).catch((error) => {
    throw new Error(`${error.stdout}${error.stderr}`);
  });
}

const wholeExamples = examples.filter(({ note }) => note !== 'fragment');
const runExamples = wholeExamples.filter(({ note }) => note !== 'no-run');

test.each(runExamples.map((example) => ({ name: nameOf(example), example })))(
  '$name returns the values that it states',
  async ({ example }) => {
    if (!(await passesTogether(example))) await runExample(example);
  },
  TIMEOUT_MS,
);

test('the examples compile', () => typeCheck(wholeExamples.filter(({ language }) => language === 'ts')), TIMEOUT_MS);

test('every fence has a known language and mark', () => {
  const unknown = examples.filter(({ note }) => !['', 'no-run', 'fragment'].includes(note));
  expect(unknown.map((example) => `${nameOf(example)} ${example.note}`)).toEqual([]);
});

test('every @example is code in a fence', () => {
  const bare = sources.flatMap((file) =>
    linesOf(file).flatMap((line, index, lines) =>
      line.startsWith('@example') && !/^```(ts|js)\b/.test(lines[index + 1]!) ? [`${file}:${index + 1}`] : [],
    ),
  );
  expect(bare).toEqual([]);
});

test('README.md has examples that are run', () => {
  expect(runExamples.filter(({ file }) => file === 'README.md')).not.toEqual([]);
});

describe('an example', () => {
  const example = (...code: string[]): Example => {
    const [found] = examplesIn('page.md', ['# A page', '', '```ts', ...code, '```']);
    return found!;
  };

  test.each([
    ['states a wrong value', ['1 + 1; // => 2', '1 + 1; // => 3'], /page\.md:5/],
    ['states a wrong value of a declared name', ['const sum: number = 1 + 1; // => 3'], /page\.md:4/],
    ['states a value of another type', ["[1]; // => ['1']"], /page\.md:4/],
    ['throws', ['', "throw new Error('broken');"], /page\.md:5.*broken/s],
    ['rejects a promise that is not awaited', ["Promise.reject(new Error('forgotten'));"], /page\.md:4.*forgotten/s],
    ['waits for a promise that never settles', ['await new Promise(() => {});', '1; // => 1'], /page\.md:3 failed/],
    ['states a value next to a statement', ['if (true) { // => 1', '}'], /page\.md:4/],
    ['states a value on a separate line', ['1 + 1;', '// => 2'], /on one line, got: \/\/ => 2/],
    [
      'imports a package that its reader has not installed',
      [
        "import { rateLimit } from '@rollgate/express';",
        "import { rollingWindow } from '@rollgate/core';",
        'rateLimit({ limits: rollingWindow({ limit: 1, window: 1000 }) });',
      ],
      /Cannot find package '@rollgate\/core'/,
    ],
    ['imports what is not exported', ["import { no } from '@rollgate/core';", 'no();'], /'no'/],
  ])(
    'fails when it %s',
    async (_, code, message) => {
      await expect(runExample(example(...code))).rejects.toThrow(message);
    },
    TIMEOUT_MS,
  );

  test(
    'fails when it does not compile',
    async () => {
      await expect(typeCheck([example("const text: string = 'x';", 'text.no;')])).rejects.toThrow(
        /page\.md-3\.mts\(5,/,
      );
    },
    TIMEOUT_MS,
  );

  test(
    'may leave servers open, on a port that is taken',
    () =>
      runExample(
        example(
          "import { createServer } from 'node:http';",
          'const first = createServer().listen(3000);',
          'const second = createServer().listen({ port: 3000 });',
          'first === second; // => false',
        ),
      ),
    TIMEOUT_MS,
  );
});
