import { FIELD_NAMES } from '../formats/field-names.js';
import { FieldReader } from '../formats/fields.js';
import { parseObject } from '../formats/record-formats.js';
import type { Wrapper } from './wrapper.js';

/** Creates a wrapper for lines of JSON with the program's line in a field. */
function createJsonWrapper(
  name: string,
  textFields: readonly string[],
  timeFields: readonly string[],
  mark: string,
): Wrapper {
  const [texts, times] = [new FieldReader(textFields), new FieldReader(timeFields)];
  return {
    name,
    unwrap(line) {
      const record = line.startsWith('{') && line.includes(mark) ? parseObject(line) : undefined;
      const text = record === undefined ? undefined : texts.find(record, toLine);
      return record === undefined || text === undefined
        ? undefined
        : { line: text, time: times.find(record, (value) => value) };
    },
  };
}

/** journald writes text with control characters as a list of bytes. Docker's text ends with a newline. */
function toLine(value: unknown): string | undefined {
  const isBytes = Array.isArray(value) && value.every((byte) => typeof byte === 'number');
  const text = isBytes ? Buffer.from(value).toString() : value;
  return typeof text === 'string' ? text.replace(/\r?\n$/, '') : undefined;
}

const TEXT_FIELDS = [
  ...['message', 'log', 'msg', 'textPayload', '@message', 'line', 'body', 'raw', 'original', 'shortMessage'],
  ...['logEntry', 'logMessage', 'text', 'content', 'data', 'event'],
];

/** Records of JSON around each line. */
export const JSON_WRAPPERS: readonly Wrapper[] = [
  createJsonWrapper('Docker (json-file)', ['log'], ['time'], '"stream"'),
  createJsonWrapper(
    'journald',
    ['MESSAGE'],
    ['_SOURCE_REALTIME_TIMESTAMP', '__REALTIME_TIMESTAMP'],
    '"__REALTIME_TIMESTAMP"',
  ),
  { ...createJsonWrapper('a text field of JSON lines', TEXT_FIELDS, FIELD_NAMES.time, ''), isGuess: true },
];
