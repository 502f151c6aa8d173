// A copy of the sources in which defects are planted, so that the working tree is never touched.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const EMBED = 'packages/redis/embed-lua.mjs';

/** Why the defect cannot be planted in this tree; `undefined` when it can be. */
export function problemOf({ name, file, find, tests }, root) {
  for (const path of [file, ...tests]) if (!existsSync(join(root, path))) return `${name}: no file ${path}`;
  const count = readFileSync(join(root, file), 'utf8').split(find).length - 1;
  return count === 1 ? undefined : `${name}: expected ${JSON.stringify(find)} once in ${file}, got it ${count} times`;
}

export class Tree {
  #root = mkdtempSync(join(tmpdir(), 'rollgate-mutants-'));

  /** @param {string} original The working tree, installed and built. */
  constructor(original) {
    const git = ['ls-files', '--cached', '--others', '--exclude-standard'];
    const files = execFileSync('git', git, { cwd: original, encoding: 'utf8' }).trim().split('\n');
    for (const file of files.filter((name) => existsSync(join(original, name)))) this.#copy(original, file);
    symlinkSync(join(original, 'node_modules'), join(this.#root, 'node_modules'));
    const packages = new Set(files.map((file) => /^(packages\/[^/]+|examples|bench|test)\//.exec(file)?.[1]));
    for (const folder of packages) {
      if (folder === undefined) continue;
      // The links among the packages are relative, so those of the copy lead to the copy.
      for (const part of ['node_modules', 'dist']) this.#copy(original, join(folder, part));
    }
    this.#embed();
  }

  get root() {
    return this.#root;
  }

  /** Plants a defect. Returns what removes it, and the hash of the file that contains it. */
  plant({ file, find, replace }) {
    const text = this.#read(file);
    const planted = text.replace(find, () => replace);
    this.#write(file, planted);
    return {
      restore: () => this.#write(file, text),
      codeHash: createHash('sha256').update(planted).digest('hex').slice(0, 12),
    };
  }

  remove() {
    rmSync(this.#root, { recursive: true, force: true });
  }

  #read(file) {
    return readFileSync(join(this.#root, file), 'utf8');
  }

  #write(file, text) {
    writeFileSync(join(this.#root, file), text);
    if (file.endsWith('.lua')) this.#embed();
  }

  /** The tests run on the TypeScript that contains the scripts. */
  #embed() {
    execFileSync(process.execPath, [join(this.#root, EMBED)]);
  }

  #copy(original, file) {
    const [from, to] = [join(original, file), join(this.#root, file)];
    if (!existsSync(from)) return;
    mkdirSync(dirname(to), { recursive: true });
    cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  }
}
