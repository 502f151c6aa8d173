import { build, type Plugin } from 'esbuild';

/** Takes each package from where the tests take it: from its sources. */
const fromSources: Plugin = {
  name: 'from-sources',
  setup({ onResolve }) {
    onResolve({ filter: /^@rollgate\// }, ({ path }) => ({ path: require.resolve(path) }));
  },
};

/**
 * Bundles packages that remember for the life of a process, for example which warnings they have emitted. Each call of the result returns
 * copies by name that remember nothing. With `jest.isolateModules`, each copy would take a third of a second.
 */
export async function bundleCopies<Packages extends object>(
  ...names: (keyof Packages & string)[]
): Promise<() => Packages> {
  const contents = names.map((name) => `exports['${name}'] = require('${name}');`).join('\n');
  const stdin = { contents, resolveDir: __dirname };
  const format = { platform: 'node', format: 'cjs', logLevel: 'warning' } as const;
  const { outputFiles } = await build({ stdin, bundle: true, write: false, plugins: [fromSources], ...format });
  const evaluate = new Function('require', 'exports', outputFiles[0]!.text);
  return () => {
    const copies = {};
    evaluate(require, copies);
    return copies as Packages;
  };
}
