import { anyTime } from './parse-time.js';
import { type By, type Parse, withoutQuery } from './request.js';

/** Which fields of JSON lines to read; without a name those that servers usually write. */
export interface JsonFields {
  readonly by: By;
  /** Dots reach into objects: `request.remote_ip`. */
  readonly time: string | undefined;
  /** Without it, each request costs 1. */
  readonly cost: string | undefined;
}

/** As pino, winston, Caddy, Traefik, Envoy, nginx and Logstash write them, or people who write their own. */
const USUAL: Record<'time' | 'ip' | 'user' | 'path', readonly string[]> = {
  time: [
    'time',
    'timestamp',
    '@timestamp',
    'ts',
    'date',
    'time_iso8601',
    'time_local',
    'start_time',
    'StartUTC',
    'msec',
  ],
  ip: [
    ...[
      'ip',
      'remote_addr',
      'remoteAddress',
      'remote_ip',
      'remoteIp',
      'client_ip',
      'clientIp',
      'clientip',
      'ClientHost',
    ],
    ...['client', 'address', 'req.ip', 'req.remoteAddress', 'request.client_ip', 'request.remote_ip'],
  ],
  user: ['user', 'remote_user', 'username', 'user_id', 'userId', 'ClientUsername', 'req.user', 'user.id'],
  path: ['path', 'url', 'uri', 'request_uri', 'RequestPath', 'req.path', 'req.url', 'request.uri'],
};

type Path = readonly string[];
/** A field, and the way to it through objects. */
type Field = readonly [name: string, path: Path];

/** Reads JSON lines: an object on each. */
export function jsonParser({ by, time, cost }: JsonFields): Parse {
  const timeFields = toFields(time === undefined ? USUAL.time : [time]);
  const keyFields = toFields(typeof by === 'object' ? [by.field] : USUAL[by]);
  const costFields = cost === undefined ? undefined : toFields([cost]);
  const toKey = by === 'path' ? (text: string) => withoutQuery(text) : (text: string) => text;
  return (line) => {
    const record = parseObject(line);
    if (record === undefined) return 'it is no JSON object';
    const value = find(record, timeFields);
    if (value === undefined) return `it has no ${named(time, 'time')}`;
    const micros = anyTime(value);
    if (typeof micros === 'string') return micros;
    const units = costFields === undefined ? 1 : Number(find(record, costFields));
    if (!Number.isSafeInteger(units) || units < 1) return `its ${named(cost, 'cost')} is no positive whole number`;
    const key = toText(find(record, keyFields));
    return { micros, key: key === undefined ? undefined : toKey(key), cost: units };
  };
}

function named(field: string | undefined, what: string): string {
  return field === undefined ? `${what} in a field of a usual name` : `field ${JSON.stringify(field)}`;
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

/** The value of the first of the fields that is there. */
function find(record: object, fields: readonly Field[]): unknown {
  for (const [name, path] of fields) {
    const value = path.length === 1 ? own(record, name) : (own(record, name) ?? follow(record, path));
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

function follow(record: object, path: Path): unknown {
  let value: unknown = record;
  for (const name of path) value = typeof value === 'object' && value !== null ? own(value, name) : undefined;
  return value;
}

function own(record: object, name: string): unknown {
  return Object.hasOwn(record, name) ? (record as Record<string, unknown>)[name] : undefined;
}

/** Numbers are good keys, too; objects are none. */
function toText(value: unknown): string | undefined {
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return !isText || value === '' || value === '-' ? undefined : String(value);
}
