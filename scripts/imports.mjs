import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** Matches the relative path in `from './a.js'`, `import './a.js'`, `import('./a.js')` and `require('./a')`. */
const IMPORT = /\b(?:from|import|require)\b\s*\(?\s*'(\.[^']+)'/g;
const COMMENT_LINE = /^\s*(\/\/|\/?\*).*$/gm;

/** The files of this folder that a file imports, types included. All paths start at the folder. */
export function importsIn(folder, file) {
  const code = readFileSync(join(folder, file), 'utf8').replace(COMMENT_LINE, '');
  const paths = Array.from(code.matchAll(IMPORT), ([, path]) => join(dirname(file), path));
  return [...new Set(paths.map((path) => sourceOf(folder, path)))];
}

/** The source of what an import names by its compiled file, or without an extension. */
function sourceOf(folder, path) {
  const named = [path, path.replace(/js$/, 'ts'), `${path}.ts`];
  return named.find((name) => existsSync(join(folder, name))) ?? path;
}
