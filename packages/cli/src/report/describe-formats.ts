import type { FormatOfLog } from '../log/log-summary.js';

/** Describes how each log was read, unless it is plain. */
export function describeFormats(formats: readonly FormatOfLog[]): string[] {
  return formats
    .filter(({ wrappers, note }) => wrappers.length > 0 || note !== undefined)
    .map(({ file, format, wrappers, note }) => {
      const inside = wrappers.length === 0 ? '' : `, in lines of ${wrappers.join(', ')}`;
      return `Format of ${file}: ${format}${inside}${note === undefined ? '' : `; ${note}`}`;
    });
}
