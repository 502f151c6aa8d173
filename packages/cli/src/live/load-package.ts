import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StoreAccessError } from '../errors.js';

/** A module of CommonJS has its exports in `default`, too. */
type Module = Readonly<Record<string, unknown>>;

/**
 * Loads the first of these packages that is installed: in the project of this folder, whose version fits its data, or next to the
 * command line.
 *
 * @throws StoreAccessError that says how to install one.
 */
export async function loadPackage(...names: readonly [string, ...string[]]): Promise<{ name: string; module: Module }> {
  const places = [createRequire(join(process.cwd(), 'package.json')), createRequire(import.meta.url)];
  for (const place of places) {
    for (const name of names) {
      const file = resolveFrom(place, name);
      if (file === undefined) continue;
      const module = (await import(name === 'node:sqlite' ? name : pathToFileURL(file).href)) as Module;
      return { name, module: { ...(module['default'] as Module | undefined), ...module } };
    }
  }
  const list = names.map((name) => `\`${name}\``).join(' or ');
  const [first] = names;
  throw new StoreAccessError(
    `Expected ${list} in the project of this folder, got none. Run \`npm install ${first}\` first`,
  );
}

function resolveFrom(place: NodeJS.Require, name: string): string | undefined {
  try {
    return place.resolve(name);
  } catch {
    return undefined;
  }
}
