import { isAddress } from '../address.js';
import { isAddressList } from '../forwarded.js';
import { parseTime } from '../parse-time.js';
import { type Request, type Selectors, withoutQuery } from '../request.js';
import { FIELD_NAMES } from './field-names.js';
import { type Field, findText, findValidText, findValue, type LogRecord, toFields } from './fields.js';
import { chooseTimeFields } from './time-field.js';

/** The largest cost whose sums over all lines of a log are exact. */
const MAX_COST = 2 ** 31;

/** Parses a record to a request, or returns why it is not one. */
export type ParseRecord = (record: LogRecord) => Request | string;

/**
 * Creates a parser for records with named fields.
 *
 * @param sample Records of the start of the log, which decide about the field with the finest time.
 */
export function createRecordParser(selectors: Selectors, sample: readonly LogRecord[]): ParseRecord {
  const { time, cost } = selectors;
  const timeFields = time === undefined ? chooseTimeFields(toFields(FIELD_NAMES.time), sample) : toFields([time]);
  const costFields = cost === undefined ? undefined : toFields([cost]);
  const toKey = createToKey(selectors);
  return (record) => {
    const value = findValue(record, timeFields);
    if (value === undefined && time !== undefined) return `it has no field ${JSON.stringify(time)}`;
    const micros = value === undefined ? Number.NaN : parseTime(value);
    if (typeof micros === 'string') return micros;
    const units = costFields === undefined ? 1 : toUnits(findValue(record, costFields));
    if (units === undefined) {
      return `its field ${JSON.stringify(cost)} is not an integer from 1 to ${MAX_COST}`;
    }
    return { micros, key: toKey(record), cost: units };
  };
}

/** Returns the cost if it is a number or decimal digits. `Number` alone would also convert `true` and `0x10`. */
function toUnits(value: unknown): number | undefined {
  const units = typeof value === 'string' && /^\s*\d+\s*$/.test(value) ? Number(value) : value;
  return Number.isInteger(units) && (units as number) >= 1 && (units as number) <= MAX_COST
    ? (units as number)
    : undefined;
}

function createToKey({
  keySource: { kind, field },
  selectClient,
}: Selectors): (record: LogRecord) => string | undefined {
  const fields = field === undefined ? (kind === 'field' ? [] : toFields(FIELD_NAMES[kind])) : toFields([field]);
  const ipFields = toFields(FIELD_NAMES.ip);
  if (kind === 'ip') return (record) => addressOf(record, fields);
  if (kind === 'forwarded') {
    return (record) =>
      selectClient(findValidText(record, fields, isAddressList) ?? '', addressOf(record, ipFields)) || undefined;
  }
  if (kind === 'path') {
    return (record) => {
      const path = findText(record, fields);
      return path === undefined ? undefined : withoutQuery(path);
    };
  }
  return (record) => findText(record, fields);
}

function addressOf(record: LogRecord, fields: readonly Field[]): string | undefined {
  return fields.length === 1 ? findText(record, fields) : findValidText(record, fields, isAddress);
}
