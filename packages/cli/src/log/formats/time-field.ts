import { decimalPlaces, parseTime } from '../parse-time.js';
import { type Field, fieldOf, type LogRecord } from './fields.js';

/** Fields whose times differ by more are times of different events. */
const SAME_EVENT_MICROS = 300 * 1e6;

/**
 * Moves the field with the finest time to the front: Traefik logs whole seconds in `time` and nanoseconds in `StartUTC`.
 * Without a sample, the order stays.
 */
export function chooseTimeFields(fields: readonly Field[], sample: readonly LogRecord[]): readonly Field[] {
  const places = fields.map((field) => Math.max(-1, ...sample.map((record) => placesOf(record, field))));
  const first = places.findIndex((count) => count >= 0);
  if (first === -1) return fields;
  let finest = first;
  for (const [index, count] of places.entries()) {
    if (count > places[finest]! && isSameEvent(sample, fields[first]!, fields[index]!)) finest = index;
  }
  return [fields[finest]!, ...fields.filter((_, index) => index !== finest)];
}

/** -1 without a time. */
function placesOf(record: LogRecord, field: Field): number {
  const value = fieldOf(record, field);
  return typeof parseTime(value) === 'number' ? decimalPlaces(value) : -1;
}

function isSameEvent(sample: readonly LogRecord[], one: Field, other: Field): boolean {
  return sample.every((record) => {
    const [micros, otherMicros] = [one, other].map((field) => parseTime(fieldOf(record, field)));
    const areBoth = typeof micros === 'number' && typeof otherMicros === 'number';
    return !areBoth || Math.abs(micros - otherMicros) <= SAME_EVENT_MICROS;
  });
}
