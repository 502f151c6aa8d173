import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

describe('exports', () => {
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
});

describe('Node versions', () => {
  const ROOT = join(__dirname, '..');

  /** Newer than Node 20.0, unless the code checks for it. */
  const NEWER =
    /AbortSignal\.any|Promise\.withResolvers|Array\.fromAsync|(?:Object|Map)\.groupBy|import\.meta\.(?:dirname|filename)|(?<!\?\.)getBuiltinModule(?!\?)/;

  test('every manifest requires Node 20, and no library uses an API newer than 20.0', () => {
    const folders = ['.', ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`)];
    for (const folder of folders.filter((one) => existsSync(join(ROOT, one, 'package.json')))) {
      const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
      if (folder === '.' || !manifest.private) expect([folder, manifest.engines]).toEqual([folder, { node: '>=20' }]);
      if (folder === '.' || manifest.private) continue;
      const sources = readdirSync(join(ROOT, folder, 'src'), { recursive: true, encoding: 'utf8' });
      for (const file of sources.filter((name) => name.endsWith('.ts'))) {
        const code = readFileSync(join(ROOT, folder, 'src', file), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
        expect([`${folder}/src/${file}`, NEWER.exec(code)?.[0]]).toEqual([`${folder}/src/${file}`, undefined]);
      }
    }
  });
});
