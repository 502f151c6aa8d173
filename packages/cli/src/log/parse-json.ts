import { FIELD_NAMES } from './field-names.js';
import { anyTime } from './parse-time.js';
import { type By, type Parse, withoutQuery } from './request.js';

/** The JSON fields to read. Without a name, common field names are tried. */
export interface JsonFields {
  readonly by: By;
  /** Dots select nested fields, as in `request.remote_ip`. */
  readonly time: string | undefined;
  /** Without it, each request costs 1. */
  readonly cost: string | undefined;
}

/** The largest cost whose sums over all lines of a log are exact. */
const MAX_COST = 2 ** 31;

type Path = readonly string[];
/** The name of a field and its path through nested objects. */
type Field = readonly [name: string, path: Path];

/** Creates a parser for JSON lines, each of which is an object. */
export function jsonParser({ by, time, cost }: JsonFields): Parse {
  const timeFields = toFields(time === undefined ? FIELD_NAMES.time : [time]);
  const keyFields = toFields(keyFieldsOf(by));
  const costFields = cost === undefined ? undefined : toFields([cost]);
  const toKey = by.kind === 'path' ? (text: string) => withoutQuery(text) : (text: string) => text;
  return (line) => {
    const record = parseObject(line);
    if (record === undefined) return 'it is not a JSON object';
    const value = find(record, timeFields);
    if (value === undefined) return `it has no ${named(time, 'time')}`;
    const micros = anyTime(value);
    if (typeof micros === 'string') return micros;
    const units = costFields === undefined ? 1 : Number(find(record, costFields));
    if (!Number.isInteger(units) || units < 1 || units > MAX_COST) {
      return `its ${named(cost, 'cost')} is not an integer from 1 to ${MAX_COST}`;
    }
    const key = findText(record, keyFields);
    return { micros, key: key === undefined ? undefined : toKey(key), cost: units };
  };
}

function keyFieldsOf({ kind, field }: By): readonly string[] {
  if (field !== undefined) return [field];
  return kind === 'field' ? [] : FIELD_NAMES[kind];
}

function named(field: string | undefined, what: string): string {
  return field === undefined ? `${what} in a field with a common name` : `field ${JSON.stringify(field)}`;
}

function toFields(names: readonly string[]): readonly Field[] {
  return names.map((name) => [name, name.split('.')]);
}

function parseObject(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The value of the first field that exists. */
function find(record: object, fields: readonly Field[]): unknown {
  for (const field of fields) {
    const value = fieldOf(record, field);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** The text of the first field that is not empty. */
function findText(record: object, fields: readonly Field[]): string | undefined {
  for (const field of fields) {
    const text = toText(fieldOf(record, field));
    if (text !== undefined) return text;
  }
  return undefined;
}

function fieldOf(record: object, [name, path]: Field): unknown {
  return path.length === 1 ? own(record, name) : (own(record, name) ?? follow(record, path));
}

function follow(record: object, path: Path): unknown {
  let value: unknown = record;
  for (const name of path) value = typeof value === 'object' && value !== null ? own(value, name) : undefined;
  return value;
}

function own(record: object, name: string): unknown {
  return Object.hasOwn(record, name) ? (record as Record<string, unknown>)[name] : undefined;
}

/** Numbers and booleans are valid keys, and objects are not. */
function toText(value: unknown): string | undefined {
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return !isText || value === '' || value === '-' ? undefined : String(value);
}
