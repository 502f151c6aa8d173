/** A record with named fields, such as a JSON object. */
export type LogRecord = Readonly<Record<string, unknown>>;

/** The name of a field and its path through nested objects. */
export interface Field {
  readonly name: string;
  readonly path: readonly string[];
}

export function toFields(names: readonly string[]): readonly Field[] {
  return names.map((name) => ({ name, path: name.split('.') }));
}

/** The value of the first field that exists. */
export function findValue(record: LogRecord, fields: readonly Field[]): unknown {
  for (const field of fields) {
    const value = fieldOf(record, field);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** The text of the first field that is not empty. */
export function findText(record: LogRecord, fields: readonly Field[]): string | undefined {
  for (const field of fields) {
    const text = toText(fieldOf(record, field));
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The text of the first field with a valid text, or else of the first that is not empty. */
export function findValidText(
  record: LogRecord,
  fields: readonly Field[],
  isValid: (text: string) => boolean,
): string | undefined {
  let first: string | undefined;
  for (const field of fields) {
    const text = toText(fieldOf(record, field));
    if (text !== undefined && isValid(text)) return text;
    first ??= text;
  }
  return first;
}

export function fieldOf(record: LogRecord, { name, path }: Field): unknown {
  return path.length === 1 ? own(record, name) : (own(record, name) ?? follow(record, path));
}

function follow(record: LogRecord, path: readonly string[]): unknown {
  let value: unknown = record;
  for (const name of path) value = typeof value === 'object' && value !== null ? own(value, name) : undefined;
  return value;
}

function own(record: object, name: string): unknown {
  return Object.hasOwn(record, name) ? (record as LogRecord)[name] : undefined;
}

/** Numbers and booleans are valid keys, and objects are not. A list of texts is a header that was sent several times. */
function toText(value: unknown): string | undefined {
  if (Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === 'string'))
    return value.join(', ');
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return !isText || value === '' || value === '-' ? undefined : String(value);
}
