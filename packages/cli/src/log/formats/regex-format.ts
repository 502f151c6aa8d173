import { isAddressList } from '../client.js';
import { parseTime } from '../parse-time.js';
import { type RequestParts, toRequest } from '../request.js';
import type { LogFormat } from './format.js';

/** A format that one regular expression describes, with the groups `time`, `address`, `forwarded`, `captures`, `user` and `request`. */
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
        const groups = pattern.exec(line)?.groups as
          | (RequestParts & { readonly time: string; readonly captures?: string })
          | undefined;
        if (groups === undefined) return `it is not ${description}`;
        const micros = parseTime(groups.time);
        if (typeof micros === 'string') return micros;
        // HAProxy separates captured headers by bars.
        const { forwarded = groups.captures?.split(/[|}{]/).find(isAddressList) } = groups;
        return toRequest(selectors, micros, { ...groups, forwarded });
      },
    }),
  };
}
