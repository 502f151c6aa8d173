import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = join(__dirname, '../src/undocumented.mjs');
const folder = mkdtempSync(join(tmpdir(), 'rollgate-undocumented-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The problems of a package with these declarations, which it exports by name. */
function problemsOf(names: string, declarations: string): string[] {
  const dist = join(folder, 'a/dist');
  mkdirSync(dist, { recursive: true });
  writeFileSync(join(folder, 'a/package.json'), '{ "exports": { ".": { "require": "./dist/index.js" } } }');
  writeFileSync(join(dist, 'index.d.ts'), `export { ${names} } from './all.js';\n`);
  writeFileSync(join(dist, 'all.d.ts'), declarations);
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, folder], { encoding: 'utf8' });
  const problems = stdout.split('\n').filter(Boolean);
  expect([stderr, status]).toEqual(['', problems.length > 0 ? 1 : 0]);
  return problems.map((line) => /"(.*)"/.exec(line)![1]!);
}

test('a public declaration and its members need doc comments', () => {
  const declarations = `export declare function check(key: string, options: {
    cost: number;
}): void;
/** Options. */
export interface Options<Given extends object = Record<string, number>> {
    readonly cost?: number;
    /** A key. */
    key: Given;
}
/** A mode. */
export type Mode = Options & {
    strict: boolean;
};
interface Hidden {
    secret: string;
}
`;
  expect(problemsOf('check, type Options, type Mode', declarations)).toEqual([
    'export declare function check(key: string, options: {',
    'readonly cost?: number;',
    'strict: boolean;',
  ]);
});

test('a member has the doc comment of its parent or of the constructor', () => {
  const declarations = `interface Parent {
    /** Decides. */
    check(key: string): void;
    reset(): void;
}
/** A child. */
export declare class Child extends Map<string, () => void> implements Parent {
    readonly limit: number;
    /** @param limit The limit. */
    constructor(limit: number);
    check(key: string): void;
}
/** Another child. */
export interface Other extends Parent {
    check(key: string): void;
}
`;
  expect(problemsOf('Other', declarations)).toEqual(['reset(): void;']);
  expect(problemsOf('Child', declarations)).toEqual([]);
});
