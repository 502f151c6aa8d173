/** The file name that means standard input. */
export const STANDARD_INPUT = '-';

export function nameOfLog(path: string): string {
  return path === STANDARD_INPUT ? 'standard input' : path;
}
