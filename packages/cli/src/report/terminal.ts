import stringWidth from 'string-width';

/** Where a report is shown. */
export interface Terminal {
  /** Infinite for a file or a pipe. */
  readonly columns: number;
  /** Colors text that stands for rejected requests. */
  readonly color: (text: string) => string;
  /** Highlights the answer. */
  readonly bold: (text: string) => string;
}

/** A file or a pipe. */
export const PLAIN: Terminal = { columns: Number.POSITIVE_INFINITY, color: (text) => text, bold: (text) => text };

const MIN_COLUMNS = 60;
const MAX_COLUMNS = 160;

const RED = '\u001b[31m';
const DEFAULT_COLOR = '\u001b[39m';
const [BOLD, NORMAL] = ['\u001b[1m', '\u001b[22m'];

/** Describes standard output. `NO_COLOR` turns colors off. `COLUMNS` also wraps what is not a terminal. */
export function detectTerminal(): Terminal {
  const { isTTY, columns } = process.stdout;
  const { NO_COLOR: noColor = '', COLUMNS: forced = '', TERM: term } = process.env;
  const width = isTTY ? columns : Number(forced) || undefined;
  const hasColor = isTTY && noColor === '' && term !== 'dumb';
  return {
    columns: width === undefined ? PLAIN.columns : Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, width)),
    color: hasColor ? (text) => `${RED}${text}${DEFAULT_COLOR}` : PLAIN.color,
    bold: hasColor ? (text) => `${BOLD}${text}${NORMAL}` : PLAIN.bold,
  };
}

/** Breaks text at blanks so that lines fit. */
export function wrap(text: string, columns: number): string {
  if (columns === Number.POSITIVE_INFINITY) return text;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && stringWidth(longer) > columns) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].join('\n');
}
