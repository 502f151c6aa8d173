import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(__dirname, '..');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollgate-rooms-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function check(root: string): string {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/check-rooms.mjs'), root]);
  expect(status).toBe(stderr.length > 0 ? 1 : 0);
  return stderr.toString();
}

/** The problems of sources with this code. */
function problemsOf(sources: Record<string, string>): string {
  for (const [file, code] of Object.entries(sources)) {
    const path = join(folder, 'packages', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, code);
  }
  return check(folder);
}

test('each file of this repository imports only from its own room and earlier ones', () => {
  expect(check(ROOT)).toBe('');
});

test.each([
  ['value', "import { b } from '../memory/b.js';"],
  ['type', "import type { B } from '../memory/b.js';"],
  ['list of names on several lines', "import {\n  b,\n  c,\n} from '../memory/b.js';"],
  ['value that it exports again', "export { b } from '../memory/b.js';"],
  ['type inside another one', "export type A = import('../memory/b.js').B;"],
  ['file without a name', "import '../memory/b.js';"],
])('a file must not import from a later room: a %s', (_, code) => {
  expect(problemsOf({ 'core/src/limits/a.ts': code, 'core/src/memory/b.ts': '' })).toBe(
    'packages/core/src/limits/a.ts imports packages/core/src/memory/b.ts, but `limits` comes before `memory`. ' +
      'A room imports only from earlier ones, see ARCHITECTURE.md\n',
  );
});

test('a twin for other platforms follows the same rule', () => {
  const problem = problemsOf({ 'http/src/base/a.neutral.ts': "import { b } from '../web/b.js';" });
  expect(problem).toContain('packages/http/src/base/a.neutral.ts imports packages/http/src/web/b');
});

test('a file may import from its own room, from earlier ones and from other packages', () => {
  const code = "import '../base/b.js';\nimport './c.js';\nimport '@rollgate/core';\n// import '../store/d.js';";
  expect(problemsOf({ 'redis/src/script/a.ts': code, 'redis/src/index.ts': "export * from './script/a.js';" })).toBe(
    '',
  );
});

test('no room imports an entry point', () => {
  const problem = problemsOf({ 'core/src/limiter/a.ts': "import '../index.js';", 'core/src/index.ts': '' });
  expect(problem).toContain('but `limiter` comes before `index.ts`');
});

test.each(['core/src/a.ts', 'redis/src/attic/a.ts'])('%s is in no room', (file) => {
  expect(problemsOf({ [file]: '' })).toMatch(`packages/${file} is in no room`);
});
