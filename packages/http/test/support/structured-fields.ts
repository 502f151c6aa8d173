import { createRequire } from 'node:module';
import { join } from 'node:path';

type Item = [value: string, parameters: Map<string, unknown>];

// Its CommonJS build, which Jest can load, from the package of the tests.
const { parseList } = createRequire(join(__dirname, 'here.js'))('structured-headers') as {
  parseList: (field: string) => Item[];
};

/** Parses a list of structured fields: each string with its parameters. Throws if it is not one. */
export function parseField(field: string | null): [string, Record<string, unknown>][] {
  return parseList(field ?? '').map(([name, parameters]) => [name, Object.fromEntries(parameters)]);
}
