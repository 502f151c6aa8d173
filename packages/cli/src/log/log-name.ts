/** The file name that means standard input. */
export const STANDARD_INPUT = '-';

/** The name of a log in messages. */
export function nameOfLog(path: string): string {
  return path === STANDARD_INPUT ? 'standard input' : path;
}
