// Turns what a CommonJS module exports by name from another module into a plain property. The compiler writes a getter, which V8
// keeps in a slow form, so each use in another package takes about 100 instructions. Run by the workspace's build.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const GETTER =
  /Object\.defineProperty\(exports, "(\w+)", \{ enumerable: true, get: function \(\) \{ return (\S+); \} \}\);/g;

const packages = fileURLToPath(new URL('../packages', import.meta.url));
for (const name of readdirSync(packages)) {
  const dist = join(packages, name, 'dist');
  const files = existsSync(dist) ? readdirSync(dist, { recursive: true, encoding: 'utf8' }) : [];
  for (const file of files.filter((path) => path.endsWith('.js')).map((path) => join(dist, path))) {
    const text = readFileSync(file, 'utf8');
    const plain = text.replace(GETTER, 'exports.$1 = $2;');
    if (plain !== text) writeFileSync(file, plain);
  }
}

const require = createRequire(import.meta.url);
for (const name of ['core', 'http', 'redis']) {
  const exported = Object.entries(Object.getOwnPropertyDescriptors(require(join(packages, name))));
  const getters = exported.filter(([, { get }]) => get !== undefined).map(([key]) => key);
  if (getters.length > 0)
    throw new Error(`Expected plain exports of packages/${name}, got getters: ${getters.join(', ')}`);
}
