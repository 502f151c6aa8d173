import { type DetectedFormat, detectFormat } from './detect-format.js';
import type { LogFormat } from './formats/format.js';
import { createLineParser } from './line-parser.js';
import type { Request, Selectors } from './request.js';

/** So many lines decide about the format, unless they are this long together or the log ends. */
const SAMPLE_LINES = 50;
const SAMPLE_LENGTH = 64 * 1024;

const UNKNOWN_FORMAT = 'it is in no known format; describe it with `--pattern`';

const CHOICES = '; without it, `--by` is `ip`, `forwarded`, `user` or `path`';

/** Called with the request of a line, or the reason why it is not one. Lines are numbered from 1. */
export type OnLine = (text: string, number: number, request: Request | string) => void;

interface Line {
  readonly text: string;
  readonly number: number;
}

/** Lines of a log with the same wrappers and format. */
export interface LogPart {
  detected: DetectedFormat;
  requests: number;
}

/**
 * Parses the lines of one log. The first lines decide about the format. When a line does not match, the formats found before
 * are tried, and then all others. So a log may change its format or mix several.
 */
export class LogParser {
  readonly #formats: readonly LogFormat[];
  readonly #selectors: Selectors;
  readonly #fieldOption: string | undefined;
  readonly #onLine: OnLine;
  #sample: Line[] = [];
  #sampleLength = 0;
  #current: LogPart | undefined;
  readonly #parts: LogPart[] = [];

  /**
   * @param fieldOption The option that requires named fields.
   * @param onLine Called for each line in order, except comments.
   */
  constructor(formats: readonly LogFormat[], selectors: Selectors, fieldOption: string | undefined, onLine: OnLine) {
    this.#formats = fieldOption === undefined ? formats : formats.filter(({ hasFields }) => hasFields);
    this.#fieldOption = fieldOption;
    this.#selectors = selectors;
    this.#onLine = onLine;
  }

  /** The formats found so far. */
  get parts(): readonly LogPart[] {
    return this.#parts;
  }

  push(text: string, number: number): void {
    if (this.#current !== undefined) {
      this.#read(text, number, this.#current);
      return;
    }
    this.#sample.push({ text, number });
    this.#sampleLength += text.length;
    if (this.#sample.length === SAMPLE_LINES || this.#sampleLength > SAMPLE_LENGTH) this.flush();
  }

  /** Parses the lines that wait for more lines of a sample. */
  flush(): void {
    const sample = this.#sample;
    this.#sample = [];
    this.#sampleLength = 0;
    const texts = sample.map(({ text }) => text);
    this.#current ??= this.#add(detectFormat(texts, this.#formats, this.#selectors));
    for (const { text, number } of sample) {
      if (this.#current !== undefined) this.#read(text, number, this.#current);
      else this.#onLine(text, number, reasonOf(text, this.#formats, this.#selectors, this.#fieldOption));
    }
  }

  #read(text: string, number: number, current: LogPart): void {
    const request = current.detected.parse(text);
    if (typeof request === 'object') {
      current.requests += 1;
      this.#onLine(text, number, request);
    } else if (request !== undefined) this.#onLine(text, number, this.#readOtherwise(text) ?? request);
  }

  #readOtherwise(line: string): Request | undefined {
    const part = this.#parts.find(({ detected }) => typeof detected.parse(line) === 'object');
    const other = part ?? this.#add(detectFormat([line], this.#formats, this.#selectors));
    if (other === undefined) return undefined;
    this.#current = other;
    other.requests += 1;
    return other.detected.parse(line) as Request;
  }

  #add(detected: DetectedFormat | undefined): LogPart | undefined {
    if (detected === undefined) return undefined;
    const same = this.#parts.find((part) => isSame(part.detected, detected));
    const part = same ?? { detected, requests: 0 };
    part.detected = detected;
    if (same === undefined) this.#parts.push(part);
    return part;
  }
}

function isSame(one: DetectedFormat, other: DetectedFormat): boolean {
  const isWrapped = one.wrappers.every((wrapper, index) => wrapper === other.wrappers[index]);
  return one.format === other.format && one.wrappers.length === other.wrappers.length && isWrapped;
}

/** Explains why no format reads the line. */
function reasonOf(
  line: string,
  formats: readonly LogFormat[],
  selectors: Selectors,
  fieldOption: string | undefined,
): string {
  if (line.startsWith('[{') || line === '[') return 'it is a JSON array; write one object per line with `jq -c ".[]"`';
  const format = formats.length === 1 ? formats[0] : formats.find((each) => each.isLike(line));
  const reason =
    format === undefined ? undefined : createLineParser([], format.createParser(selectors, [line]).parse)(line);
  if (typeof reason === 'string') return reason;
  return fieldOption === undefined
    ? UNKNOWN_FORMAT
    : `it has no named fields, which \`${fieldOption}\` requires${CHOICES}`;
}
