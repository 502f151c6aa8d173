/** A record with named fields, such as a JSON object. */
export type LogRecord = Readonly<Record<string, unknown>>;

/** A place in a record. */
interface Place {
  readonly value: unknown;
  readonly rank: number;
}

/** Deeper objects are not metadata of a request. */
const MAX_DEPTH = 5;

/** Objects around the fields of a request, whose names say nothing about them. */
const CONTAINERS = new Set([
  ...[
    'jsonpayload',
    'properties',
    'attributes',
    'meta',
    'metadata',
    'fields',
    'data',
    'source',
    'log',
    'event',
    'context',
  ],
  ...['result', 'json', 'parsed', 'structured', 'logprocessed', 'detail', 'details', 'labels', 'tags', 'nginx'],
  ...['protopayload', 'requestmetadata'],
  ...['http', 'httprequest', 'req', 'request', 'requestcontext', 'proxy', 'network', 'identity', 'info', 'record'],
  ...['extra', 'payload', 'message', 'msg', 'access'],
]);

/** Reads the first of several fields that a record has. Names match without case and separators: `remote_addr` is `remoteAddr`. */
export class FieldReader {
  readonly #ranks = new Map<string, number>();
  readonly #exact: readonly (readonly [name: string, path: readonly string[]])[];
  readonly #isExact: boolean;

  /** @param isGiven Whether a user has given the names, so that an exact match counts most and nothing else is a container. */
  constructor(names: readonly string[], isGiven = false) {
    this.#isExact = isGiven;
    this.#exact = isGiven ? names.map((name) => [name, name.split('.')] as const) : [];
    for (const [rank, name] of names.entries()) {
      const key = normalize(name);
      if (!this.#ranks.has(key)) this.#ranks.set(key, rank);
    }
  }

  /** Returns the first value that is valid, or else the first that exists. */
  find<Value>(
    record: LogRecord,
    convert: (value: unknown) => Value | undefined,
    isValid: (value: Value) => boolean = () => true,
  ): Value | undefined {
    let first: Value | undefined;
    for (const value of this.#valuesOf(record)) {
      const converted = convert(value);
      if (converted === undefined) continue;
      if (isValid(converted)) return converted;
      first ??= converted;
    }
    return first;
  }

  /** All values of the fields, the first name first. */
  #valuesOf(record: LogRecord): unknown[] {
    for (const [name, path] of this.#exact) {
      const value =
        own(record, name) ??
        path.reduce<unknown>((inner, part) => (isRecord(inner) ? own(inner, part) : undefined), record);
      if (value !== undefined && value !== null) return [value];
    }
    const found: Place[] = [];
    this.#collect(record, '', found, 0);
    if (found.length > 1) found.sort((one, other) => one.rank - other.rank);
    return found.map(({ value }) => value);
  }

  #collect(record: LogRecord, prefix: string, found: Place[], depth: number): void {
    for (const name in record) {
      if (!Object.hasOwn(record, name)) continue;
      const key = normalize(name);
      const value = unpack(record[name], key);
      if (value === undefined || value === null) continue;
      const rank = this.#ranks.get(prefix + key);
      if (rank !== undefined) found.push({ value, rank });
      if (!isRecord(value) || depth === MAX_DEPTH) continue;
      const inner = !this.#isExact && CONTAINERS.has(key) ? prefix : prefix + key;
      this.#collect(value, inner, found, depth + 1);
      // A container may also be a part of the name, as in `request.ip` and `req.id`.
      if (inner === prefix && !this.#isExact && this.#hasPrefix(prefix + key))
        this.#collect(value, prefix + key, found, depth + 1);
    }
  }

  #prefixes: Set<string> | undefined;
  #hasPrefix(prefix: string): boolean {
    this.#prefixes ??= new Set(
      [...this.#ranks.keys()].flatMap((key) => Array.from(key, (_, end) => key.slice(0, end))),
    );
    return this.#prefixes.has(prefix);
  }
}

/** Azure writes the container `properties` as text. */
function unpack(value: unknown, key: string): unknown {
  if (typeof value !== 'string' || !value.startsWith('{') || key !== 'properties') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

const normalized = new Map<string, string>();
const MAX_NORMALIZED = 10_000;

/** Removes case and separators, and the prefixes of containers that a flat name may have. */
function normalize(name: string): string {
  let key = normalized.get(name);
  if (key === undefined) {
    const parts = name.split('.');
    while (parts.length > 1 && CONTAINERS.has(plain(parts[0]!))) parts.shift();
    key = plain(parts.join(''));
    if (normalized.size >= MAX_NORMALIZED) normalized.clear();
    normalized.set(name, key);
  }
  return key;
}

/** IIS calls the headers of requests `cs(Name)`. */
const W3C_HEADER = /^cs(?=\()/;

const plain = (name: string): string =>
  name
    .toLowerCase()
    .replace(W3C_HEADER, '')
    .replace(/[^\p{L}\p{N}]/gu, '');

const isRecord = (value: unknown): value is LogRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function own(record: object, name: string): unknown {
  return Object.hasOwn(record, name) ? (record as LogRecord)[name] : undefined;
}
