import { invalidOption } from '@rollgate/core/store';

const IDENTIFIER = /^[a-z_][a-z0-9_]{0,62}$/;

/** Writes a text as a literal, whatever `standard_conforming_strings` is. */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

/**
 * Quotes the name of a table, which may begin with its schema.
 *
 * @throws TypeError unless its parts consist of lower-case letters, digits and underscores.
 */
export function quoteTable(table: unknown): string {
  const parts = typeof table === 'string' ? table.split('.') : [];
  if (parts.length >= 1 && parts.length <= 2 && parts.every((part) => IDENTIFIER.test(part))) {
    return parts.map((part) => `"${part}"`).join('.');
  }
  const expected = 'a name of lower-case letters, digits and underscores, such as `rollgate` or `app.rollgate`';
  throw invalidOption('table', expected, table);
}
