import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGES = join(__dirname, '../packages');

interface Manifest {
  name: string;
  private?: boolean;
  exports?: Record<string, { require?: string; default?: string } | string>;
}

/** The source of each entry point that a published package offers, by the name that users import. */
const entries = readdirSync(PACKAGES)
  .map((folder) => join(PACKAGES, folder))
  .filter((folder) => existsSync(join(folder, 'package.json')))
  .flatMap((folder) => {
    const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (manifest.private) return [];
    return Object.entries(manifest.exports ?? {}).flatMap(([path, target]): [string, string][] => {
      if (typeof target === 'string') return []; // The manifest itself.
      const source = (target.require ?? target.default!).replace('./dist/', 'src/').replace(/\.js$/, '.ts');
      return [[manifest.name + path.slice(1), join(folder, source)]];
    });
  });

/**
 * `a`, `type:B`, `*c` of `export { a, type B } from '…'`, `export type { B }`, `export * as a from '…'`, `export default a`
 * and `export * from 'c'`. A small entry point may also declare a class, a function or an interface itself.
 */
function exportedBy(source: string): string[] {
  const text = readFileSync(source, 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
  return [
    ...text.matchAll(
      /^export (?:(type )?(?:\{([^}]*)\}|\* from '([^']+)')|\* as (\w+)|(default) |(class|function|interface) (\w+)|(.*))/gm,
    ),
  ].flatMap((found) => {
    const [, isType, list, all, namespace, byDefault, kind, declared, other] = found;
    if (declared !== undefined) return [kind === 'interface' ? `type:${declared}` : declared];
    if (other !== undefined) throw new Error(`Expected a list of names in ${source}, got: export ${other}`);
    if (all !== undefined) return [isType ? `type:*${all}` : `*${all}`];
    if (list === undefined) return [namespace ?? byDefault!];
    const names = list.split(',').flatMap((name) => name.trim() || []);
    return names.map((name) => (isType ? `type:${name}` : name.replace(/^type /, 'type:')));
  });
}

// So the public API is what these files show, and nothing becomes public by accident.
test.each(entries)('%s names what it exports, except for what every adapter passes on', (_, source) => {
  const names = exportedBy(source).filter((name) => name !== '*@rollgate/core' && name !== '*@rollgate/http/app');
  expect(names.filter((name) => name.includes('*'))).toEqual([]);
  expect(names).not.toEqual([]);
});
