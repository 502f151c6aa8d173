// Measures the published packages after a build, and writes their sizes into the table of the README: npm run sizes
import { existsSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { builtinModules, createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../', import.meta.url));
const readme = join(root, 'README.md');

const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** The bytes of a file, or of all files in a folder without those of installed packages. */
function bytesOf(path) {
  if (!statSync(path).isDirectory()) return path.endsWith('.tsbuildinfo') ? 0 : statSync(path).size;
  const names = readdirSync(path).filter((name) => name !== 'node_modules');
  return names.reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}

/** What npm installs for a package: its published files, and its dependencies with theirs. */
function installedFolders(folder, found = new Set()) {
  if (found.has(folder)) return found;
  found.add(folder);
  for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) {
    const paths = createRequire(join(folder, 'package.json')).resolve.paths(name);
    installedFolders(realpathSync(paths.map((path) => join(path, name)).find((path) => existsSync(path))), found);
  }
  return found;
}

/** Only packages of this repository have more files than they publish. */
function publishedBytes(folder) {
  if (!folder.startsWith(join(root, 'packages'))) return bytesOf(folder);
  return ['dist', 'package.json', 'README.md', 'LICENSE'].reduce((sum, name) => sum + bytesOf(join(folder, name)), 0);
}

/**
 * What a program gets that imports everything of a package, without the frameworks and clients that the program brings.
 * Packages with a build for all platforms are measured in that one.
 */
async function bundleOf(folder) {
  const { name, exports, peerDependencies } = manifestOf(folder);
  const platform = JSON.stringify(exports['.']).includes('.mjs') ? 'neutral' : 'node';
  const { outputFiles } = await build({
    stdin: { contents: `export * from '${name}'`, resolveDir: folder },
    ...{ bundle: true, minify: true, format: 'esm', platform, target: 'es2022', write: false },
    mainFields: ['module', 'main'],
    external: ['node:*', ...builtinModules, ...Object.keys(peerDependencies ?? {})],
  });
  return outputFiles[0].contents;
}

/** The sizes of a package in bytes. Programs import no command, so it has no bundle. */
export async function sizesOf(name) {
  const folder = join(root, 'packages', name);
  const installed = [...installedFolders(folder)].reduce((sum, each) => sum + publishedBytes(each), 0);
  if (manifestOf(folder).bin !== undefined) return { installed };
  const bundle = await bundleOf(folder);
  return { installed, minified: bundle.length, gzip: gzipSync(bundle, { level: 9 }).length };
}

const COLUMNS = ['installed', 'minified', 'gzip'];
const ROW = /^(\| \[@rollgate\/([\w-]+)\]\([^|]+\|[^|]+\|)([^|]+)\|([^|]+)\|([^|]+)\|$/;

/** The rows of the README's table, with the sizes that they state in kB. */
export function statedSizes() {
  return readFileSync(readme, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, start, name, ...cells] = ROW.exec(line) ?? [];
      if (name === undefined) return [];
      const stated = COLUMNS.map((column, index) => [column, Number.parseInt(cells[index], 10)]);
      return [
        { line, start, name, cells, stated: Object.fromEntries(stated.filter(([, size]) => !Number.isNaN(size))) },
      ];
    });
}

/** As wide as the formatter makes it. */
const toCell = (bytes, cell) => (bytes === undefined ? '' : `${Math.round(bytes / 1000)} kB`).padStart(cell.length - 2);

async function write() {
  let text = readFileSync(readme, 'utf8');
  for (const { line, start, name, cells } of statedSizes()) {
    const sizes = await sizesOf(name);
    const written = COLUMNS.map((column, index) => toCell(sizes[column], cells[index]));
    text = text.replace(line, `${start} ${written.join(' | ')} |`);
  }
  writeFileSync(readme, text);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await write();
