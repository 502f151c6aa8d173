import { isAddressList, valueOrUndefined } from '../client.js';
import { decimalPlaces, parseTime } from '../parse-time.js';
import { type Request, type Selectors, targetOf, withoutQuery } from '../request.js';
import { FIELD_NAMES } from './field-names.js';
import { FieldReader, type LogRecord } from './fields.js';

/** The largest cost whose sums over all lines of a log are exact. */
const MAX_COST = 2 ** 31;

/** Parses a record to a request, or returns why it is not one. */
export type ParseRecord = (record: LogRecord) => Request | string;

/**
 * Creates a parser of records with named fields.
 *
 * @param sample Records of the start of the log, which decide about the field with the finest time.
 */
export function createRecordParser(selectors: Selectors, sample: readonly LogRecord[]): ParseRecord {
  const { time, cost, needsTarget } = selectors;
  const readTime = createTimeReader(time, sample);
  const costs = cost === undefined ? undefined : new FieldReader([cost], true);
  const toKey = createToKey(selectors);
  const [paths, methods] = [new FieldReader(FIELD_NAMES.path), new FieldReader(FIELD_NAMES.method)];
  const lines = new FieldReader(['request', 'requestLine']);
  return (record) => {
    const micros = readTime(record);
    if (typeof micros === 'string') return micros;
    const units = costs === undefined ? 1 : toUnits(costs.find(record, (value) => value));
    if (units === undefined) {
      return `its field ${JSON.stringify(cost)} is not an integer from 1 to ${MAX_COST}`;
    }
    if (!needsTarget) return { micros, key: toKey(record), cost: units };
    const line = lines.find(record, toText) ?? '';
    const target = paths.find(record, toText);
    return {
      ...{ micros, key: toKey(record), cost: units },
      path: target === undefined ? targetOf(line) : withoutQuery(target),
      method: methods.find(record, toText) ?? line.split(' ', 1)[0],
    };
  };
}

const NO_TIME = Number.NaN;

/** Numbers of seconds until then are durations, such as nginx's `request_time`. */
const EARLIEST_TIME_MICROS = 1e14;

/** Returns a value that may be a time, even one in a wrong form. */
function toTime(value: unknown): unknown {
  const micros = parseTime(value);
  const isDuration = typeof micros === 'number' && micros < EARLIEST_TIME_MICROS && !/[-/:]/.test(String(value));
  return isDuration ? undefined : value;
}

const isTime = (value: unknown): boolean => typeof parseTime(value) === 'number';

/** Creates the function that returns the time of a record, or what is wrong with it. */
function createTimeReader(
  field: string | undefined,
  sample: readonly LogRecord[],
): (record: LogRecord) => number | string {
  if (field !== undefined) {
    const reader = new FieldReader([field], true);
    return (record) => {
      const value = reader.find(record, (found) => found);
      return value === undefined ? `it has no field ${JSON.stringify(field)}` : parseTime(value);
    };
  }
  const reader = new FieldReader(finestFirst(sample));
  return (record) => {
    const value = reader.find(record, toTime, isTime);
    return value === undefined ? NO_TIME : parseTime(value);
  };
}

/** Fields whose times differ by more are times of different events. */
const SAME_EVENT_MICROS = 300 * 1e6;

/** Moves the field with the finest time to the front: Traefik logs whole seconds in `time` and nanoseconds in `StartUTC`. */
function finestFirst(sample: readonly LogRecord[]): readonly string[] {
  const names: readonly string[] = FIELD_NAMES.time;
  const times = names.map((name) => {
    const reader = new FieldReader([name]);
    return sample.map((record) => reader.find(record, (value) => (isTime(toTime(value)) ? value : undefined)));
  });
  const places = times.map((values) =>
    Math.max(-1, ...values.map((value) => (value === undefined ? -1 : decimalPlaces(value)))),
  );
  const first = places.findIndex((count) => count >= 0);
  if (first === -1) return names;
  const isSameEvent = (index: number) =>
    times[index]!.every((value, line) => {
      const [one, other] = [parseTime(times[first]![line]), parseTime(value)];
      return typeof one !== 'number' || typeof other !== 'number' || Math.abs(one - other) <= SAME_EVENT_MICROS;
    });
  let finest = first;
  for (const [index, count] of places.entries()) if (count > places[finest]! && isSameEvent(index)) finest = index;
  return [names[finest]!, ...names.filter((_, index) => index !== finest)];
}

/** Returns the cost if it is a number or decimal digits. `Number` alone would also convert `true` and `0x10`. */
function toUnits(value: unknown): number | undefined {
  const units = typeof value === 'string' && /^\s*\d+\s*$/.test(value) ? Number(value) : value;
  return Number.isInteger(units) && (units as number) >= 1 && (units as number) <= MAX_COST
    ? (units as number)
    : undefined;
}

function createToKey({ keySource: { kind, field }, clients }: Selectors): (record: LogRecord) => string | undefined {
  const reader =
    field === undefined ? new FieldReader(kind === 'field' ? [] : FIELD_NAMES[kind]) : new FieldReader([field], true);
  if (kind === 'path') {
    return (record) => {
      const path = reader.find(record, toText);
      return path === undefined ? undefined : withoutQuery(path);
    };
  }
  if (kind !== 'ip' && kind !== 'forwarded') return (record) => reader.find(record, toText);
  const peers = kind === 'ip' ? reader : new FieldReader(FIELD_NAMES.ip);
  const isRequest = field === undefined ? createIsRequest() : () => true;
  const peerOf = (record: LogRecord) => peers.find(record, toText, isAddressList);
  if (kind === 'ip') return (record) => (isRequest(record) ? clients.byAddress(peerOf(record)) : undefined);
  return (record) =>
    isRequest(record) ? clients.byForwarded(reader.find(record, toText, isAddressList), peerOf(record)) : undefined;
}

/**
 * Tells requests from other lines with an address, such as a server's message that it listens: once a line has a path, a method
 * or a status, lines without them are no requests.
 */
function createIsRequest(): (record: LogRecord) => boolean {
  const evidence = new FieldReader([...FIELD_NAMES.path, ...FIELD_NAMES.method, ...FIELD_NAMES.request]);
  let hasEvidence = false;
  return (record) => {
    const isRequest = evidence.find(record, (value) => value) !== undefined;
    hasEvidence ||= isRequest;
    return isRequest || !hasEvidence;
  };
}

/** Numbers and booleans are valid keys, and objects are not. A list of texts is a header that was sent several times. */
function toText(value: unknown): string | undefined {
  if (Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === 'string'))
    return value.join(', ');
  if (typeof value === 'string') return valueOrUndefined(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
