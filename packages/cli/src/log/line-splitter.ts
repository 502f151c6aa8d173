import { StringDecoder } from 'node:string_decoder';

/** A longer line is not a server's log line and must not fill the memory. */
const MAX_LINE_LENGTH = 1024 * 1024;
/** The characters kept of a line that is too long. */
const SHOWN = 100;

/**
 * Splits chunks of bytes into lines without their ends (LF or CRLF). A line of more than 1 MB is reported by its start and
 * replaced by an empty line, so that line numbers stay correct.
 *
 * A line is a slice of its chunk's text and keeps all of that text alive, so copy what you keep.
 */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  readonly #onTooLong: (index: number, start: string) => void;
  /** The start of an unfinished line, in pieces, because joining them at each chunk would take quadratic time. */
  #pieces: string[] = [];
  #length = 0;
  #isTooLong = false;

  /** @param onTooLong Called for a line that is too long, with its index among the lines to be returned and its start. */
  constructor(onTooLong: (index: number, start: string) => void) {
    this.#onTooLong = onTooLong;
  }

  /** Returns the lines that end in this chunk. */
  push(chunk: Buffer): string[] {
    const text = this.#decoder.write(chunk);
    const lines: string[] = [];
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      if (this.#length === 0) this.#cut(lines, text, start, end);
      else {
        this.#keep(text.slice(start, end));
        this.#finish(lines);
      }
      start = end + 1;
    }
    if (start < text.length) this.#keep(text.slice(start));
    return lines;
  }

  /** Returns the last line if it has no line end. */
  end(): string[] {
    const lines: string[] = [];
    this.#keep(this.#decoder.end());
    if (this.#length > 0) this.#finish(lines);
    return lines;
  }

  /** Adds a line that lies in one chunk. */
  #cut(lines: string[], text: string, start: number, end: number): void {
    if (end - start > MAX_LINE_LENGTH) {
      this.#onTooLong(lines.length, text.slice(start, start + SHOWN));
      lines.push('');
    } else {
      const hasReturn = end > start && text.charCodeAt(end - 1) === 13;
      lines.push(text.slice(start, hasReturn ? end - 1 : end));
    }
  }

  #keep(piece: string): void {
    this.#length += piece.length;
    if (this.#isTooLong) return;
    this.#pieces.push(piece);
    if (this.#length > MAX_LINE_LENGTH) {
      this.#isTooLong = true;
      this.#pieces = [this.#pieces.join('').slice(0, SHOWN)];
    }
  }

  #finish(lines: string[]): void {
    const text = this.#pieces.join('');
    if (this.#isTooLong) {
      this.#onTooLong(lines.length, text);
      lines.push('');
    } else this.#cut(lines, text, 0, text.length);
    this.#pieces = [];
    this.#length = 0;
    this.#isTooLong = false;
  }
}
