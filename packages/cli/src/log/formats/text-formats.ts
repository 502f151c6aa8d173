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

function createRegexFormat({ name, pattern, description, note }: RegexFormat): LogFormat {
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

/** HAProxy's `httplog` and `tcplog`, whose times have no zone and count as UTC. */
export const haproxy = createRegexFormat({
  name: 'haproxy',
  description: "in HAProxy's format",
  pattern:
    /^(?<address>\S+:\d+) \[(?<time>\d{2}\/[A-Z][a-z]{2}\/\d{4}:[\d:.]+)\] \S+ \S[^\s/]*\/\S+ [-+\d/]+ [-+\d]+ [^"{]*(?<captures>(?:\{[^"}]*\} ?)*)[^"]*(?:"(?<request>[^"]*))?/,
});

/** Envoy's default format. */
export const envoy = createRegexFormat({
  name: 'envoy',
  description: "in Envoy's default format",
  pattern:
    /^\[(?<time>\d{4}-[^\]]+)\] "(?<request>[^"]*)" \d+ \S+ [-\d]+ [-\d]+ [-\d]+ \S+ "(?<forwarded>[^"]*)" "[^"]*" "[^"]*" "[^"]*" "[^"]*"$/,
  note: 'the format has no client address, so the client comes from X-Forwarded-For',
});

/** Istio's default format, which is Envoy's with more fields. */
export const istio = createRegexFormat({
  name: 'istio',
  description: "in Istio's default format",
  pattern:
    /^\[(?<time>\d{4}-[^\]]+)\] "(?<request>[^"]*)" \d+ \S+ \S+ \S+ "[^"]*" [-\d]+ [-\d]+ [-\d]+ \S+ "(?<forwarded>[^"]*)" "[^"]*" "[^"]*" "[^"]*" "[^"]*" \S+ \S+ \S+ (?<address>\S+) \S+ \S+$/,
});

/** The Application Load Balancer of AWS, with microseconds. */
export const alb = createRegexFormat({
  name: 'alb',
  description: 'in the format of an Application Load Balancer',
  pattern:
    /^(?:https?|h2|grpcs|wss?) (?<time>\d{4}-\S+Z) \S+ (?<address>\S+:\d+) \S+ [-\d.]+ [-\d.]+ [-\d.]+ [-\d]+ [-\d]+ \d+ \d+ "(?<request>[^"]*)" /,
});

/** The Classic Load Balancer of AWS. */
export const elb = createRegexFormat({
  name: 'elb',
  description: 'in the format of a Classic Load Balancer',
  pattern:
    /^(?<time>\d{4}-\S+Z) \S+ (?<address>\S+:\d+) \S+ [-\d.]+ [-\d.]+ [-\d.]+ [-\d]+ [-\d]+ \d+ \d+ "(?<request>[^"]*)"/,
});

/** Server access logs of Amazon S3. */
export const s3 = createRegexFormat({
  name: 's3',
  description: "in the format of S3's access logs",
  pattern:
    /^\S{16,} \S+ \[(?<time>[^\]]+)\] (?<address>\S+) (?<user>\S+) \S+ [A-Z]+\.\S+ \S+ (?:"(?<request>[^"]*)"|-) /,
});

/** Squid's native format. */
export const squid = createRegexFormat({
  name: 'squid',
  description: "in Squid's native format",
  pattern: /^(?<time>\d{9,10}\.\d{3}) +\d+ (?<address>\S+) [A-Z_]+\/\d{3} \d+ (?<request>[A-Z]+ \S+) (?<user>\S+) /,
});
