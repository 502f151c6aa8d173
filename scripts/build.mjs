// Bundles each package into one file per entry of its package.json, and its declarations likewise. What several entries need is in
// a file that they share, so that it exists once. Run by the workspace's build, after the compiler has written the declarations.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

const PACKAGES = fileURLToPath(new URL('../packages', import.meta.url));

/** Replaces each `platform.ts` by the `platform.web.ts` next to it. */
const forOtherPlatforms = {
  name: 'other-platforms',
  async resolveId(specifier, importer) {
    const resolved = importer === undefined ? null : await this.resolve(specifier, importer, { skipSelf: true });
    if (resolved === null || basename(resolved.id) !== 'platform.ts') return resolved;
    return { ...resolved, id: resolved.id.replace(/\.ts$/, '.web.ts') };
  },
};

/** Drops the export of `__proto__` that comes with `export *`. Node would list it among the names of every adapter. */
const withoutProto = {
  name: 'without-proto',
  renderChunk: (code) =>
    code.replace(/^Object\.prototype\.hasOwnProperty\.call\(\w+, (['"])__proto__\1\)[^;]*;\n/gm, ''),
};

/** Makes the getters of what a shared file exports plain properties, too. No binding changes. */
const withoutGetters = {
  name: 'without-getters',
  renderChunk: (code) =>
    code.replace(
      /^Object\.defineProperty\(exports, "(\w+)", \{[^{]*get: function \(\) \{\s*return (\w+);\s*\}\s*\}\);/gm,
      'exports.$1 = $2;',
    ),
};

/** Makes programs load CommonJS by `require`. Node parses what they import once more, to find the names, which takes 15 MB. */
const byRequire = {
  name: 'by-require',
  renderChunk(code) {
    const changed = code.replace(/^import \{(.*)\} from ("(?:@rollgate\/.*|commander)");$/gm, (_, names, from) => {
      return `const {${names.replaceAll(' as ', ': ')}} = requireFrom(import.meta.url)(${from});`;
    });
    return changed === code ? code : `${changed}\nimport { createRequire as requireFrom } from "node:module";\n`;
  },
};

/** The commands that ask a store load nothing of those that read logs. */
const LIVE_GROUPS = [
  { name: 'values', test: /src.(?:usage|report.format-number)\.ts$/, priority: 1 },
  { name: 'live', test: /src.live./, minShareCount: 2, priority: 1 },
];

/** Drops the functions that a bundle of modules may need. Declarations call none. */
const withoutRuntime = {
  name: 'without-runtime',
  generateBundle(_, files) {
    delete files['rolldown-runtime.ts'];
  },
};

await Promise.all(readdirSync(PACKAGES).map(buildPackage));
writeWrapper('fastify', 'rateLimit');

async function buildPackage(name) {
  const folder = join(PACKAGES, name);
  if (!existsSync(join(folder, 'package.json'))) return;
  const { exports = {}, bin = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const targets = Object.values(exports).filter((target) => typeof target === 'object');
  const onNode = targets.map((target) => target.require ?? target.default);
  const elsewhere = targets.flatMap(({ node, default: file }) => (node === undefined ? [] : [file]));
  const programs = Object.values(bin);
  if (onNode.length + programs.length === 0) return;
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  await Promise.all([
    bundle(folder, onNode, { format: 'cjs', plugins: [withoutProto, withoutGetters] }),
    bundle(folder, elsewhere, { platform: 'neutral', plugins: [forOtherPlatforms] }),
    bundle(folder, onNode.map(toTypes), { plugins: [dts({ dtsInput: true, tsconfig: false }), withoutRuntime] }),
    bundle(folder, programs, {
      plugins: [byRequire],
      start: /src.(?:errors|output|version|report.escape-invisible)\.ts$/,
    }),
    ...(name === 'cli' ? [bundle(folder, ['./dist/migrate/transform.cjs'], { format: 'cjs' })] : []),
  ]);
  // The declarations of one module serve both kinds. A compiler finds them by the name of the module.
  for (const file of elsewhere) writeFileSync(join(folder, toTypes(file)), reexport(file));
}

function toTypes(file) {
  return file.replace(/\.(m?)js$/, '.d.$1ts');
}

function reexport(file) {
  return `export * from './${basename(file).replace(/\.mjs$/, '.js')}';\n`;
}

/**
 * Bundles files of `dist`, each from the source or declaration of the same name. `start` matches what a program needs before it
 * knows its command, so that its help does not load what commands share.
 */
async function bundle(folder, files, { format = 'esm', platform = 'node', plugins = [], start } = {}) {
  if (files.length === 0) return;
  const [, extension] = /((?:\.d)?\.[cm]?[jt]s)$/.exec(files[0]);
  const nameOf = (file) => file.slice('./dist/'.length, -extension.length);
  const sourceOf = (file) => (extension === '.d.ts' ? `./types/${nameOf(file)}.d.ts` : `./src/${nameOf(file)}.ts`);
  // The plugin adds `.ts` to a name that ends in `.d`.
  const suffix = extension === '.d.ts' ? '.d' : '';
  await build({
    ...{ cwd: folder, platform, plugins, external: /^[^./]/, tsconfig: join(folder, 'tsconfig.json') },
    checks: { bundlerTimings: false },
    // Elsewhere, the app's bundler reads these files, and drops constants of what the app does not use. On Node, constants are faster.
    ...(platform === 'neutral' && {
      optimization: { inlineConst: true },
      experimental: { attachDebugInfo: 'none' },
    }),
    input: Object.fromEntries(files.map((file) => [nameOf(file) + suffix, sourceOf(file)])),
    output: {
      ...{
        dir: join(folder, 'dist'),
        format,
        exports: 'named',
        minify: false,
        comments: { jsdoc: extension === '.d.ts' },
      },
      entryFileNames: `[name]${suffix === '' ? extension : '.ts'}`,
      chunkFileNames: `[name]${suffix === '' ? extension : '.ts'}`,
      codeSplitting: {
        groups: [
          ...(start === undefined ? [] : [{ name: 'start', test: start, priority: 1 }, ...LIVE_GROUPS]),
          { name: `shared${suffix}`, minShareCount: 2 },
        ],
      },
      // Plain properties: V8 keeps getters of exports in a slow form, so each use in another package would take longer.
      externalLiveBindings: false,
      // The plugin recognizes namespaces only with symbols.
      generatedCode: { symbols: extension === '.d.ts' },
    },
  });
}

/** Writes an ES module that has the default export of a CommonJS module. Without it, Node would make all exports the default one. */
function writeWrapper(name, byDefault) {
  const text = `${reexport('index.js')}export { ${byDefault} as default } from './index.js';\n`;
  for (const extension of ['mjs', 'd.mts']) writeFileSync(join(PACKAGES, name, 'dist', `index.${extension}`), text);
}
