import { parseTime } from '../parse-time.js';
import { keyOf, type RequestParts } from '../request.js';
import type { LogFormat } from './format.js';

/** A format that one regular expression describes, with the groups `time`, `address`, `forwarded`, `user` and `request`. */
interface RegexFormat {
  readonly name: string;
  readonly pattern: RegExp;
  /** Shown for lines that the pattern does not match. */
  readonly description: string;
  readonly note?: string;
}

/** Creates a format from its pattern. */
export function createRegexFormat({ name, pattern, description, note }: RegexFormat): LogFormat {
  return {
    name,
    hasFields: false,
    isLike: (line) => pattern.test(line),
    createParser: (selectors) => ({
      note,
      parse: (line) => {
        const groups = pattern.exec(line)?.groups as (RequestParts & { readonly time: string }) | undefined;
        if (groups === undefined) return `it is not ${description}`;
        const micros = parseTime(groups.time);
        return typeof micros === 'string' ? micros : { micros, key: keyOf(selectors, groups), cost: 1 };
      },
    }),
  };
}
