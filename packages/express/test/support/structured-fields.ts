import { createRequire } from 'node:module';
import { join } from 'node:path';

type Item = [value: string, parameters: Map<string, unknown>];

// Its CommonJS half, which Jest can load; it is found in the package of the tests.
const { parseList } = createRequire(join(__dirname, 'here.js'))('structured-headers') as {
  parseList: (field: string) => Item[];
};

/** What a list of structured fields says: each string with its parameters. Throws when it is none. */
export function parseField(field: string | null): [string, Record<string, unknown>][] {
  return parseList(field ?? '').map(([name, parameters]) => [name, Object.fromEntries(parameters)]);
}
