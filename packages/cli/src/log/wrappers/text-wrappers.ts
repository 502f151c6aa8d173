import type { Wrapper } from './wrapper.js';

const ISO_TIME = String.raw`(?<time>\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2}))`;
const LOCAL_TIME = String.raw`(?<time>\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?: ?[+-]\d{2}:?\d{2})?)`;
/** A program's name, such as `nginx[27]:` or `heroku[router]:`. */
const TAG = String.raw`[^\s:[\]]+(?:\[[^\]]*\])?:`;

/** Creates a wrapper from the pattern of its prefix. The group `time` is the time. */
function createPrefixWrapper(name: string, source: string): Wrapper {
  const prefix = new RegExp(`^${source}`);
  return {
    name,
    unwrap(line) {
      const match = prefix.exec(line);
      return match === null ? undefined : { line: line.slice(match[0].length), time: match.groups?.['time'] };
    },
  };
}

/** Prefixes of lines of text. A more specific prefix comes first. */
export const TEXT_WRAPPERS: readonly Wrapper[] = [
  createPrefixWrapper('Kubernetes (CRI)', String.raw`${ISO_TIME} std(?:out|err) F(?::\S+)? `),
  createPrefixWrapper('kubectl --prefix', String.raw`\[pod\/[^\]\s]+\] `),
  createPrefixWrapper('docker compose', String.raw`[\w.|-]+ *\| `),
  createPrefixWrapper(
    'syslog (RFC 5424)',
    String.raw`<\d{1,3}>1 (?:-|${ISO_TIME}) \S+ \S+ \S+ \S+ (?:-|(?:\[[^\]]*\])+) (?:\ufeff)?`,
  ),
  createPrefixWrapper(
    'syslog',
    String.raw`(?:<\d{1,3}>)?[A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2}(?:\.\d+)? (?:[^\s:]+ )?${TAG} `,
  ),
  createPrefixWrapper('syslog', String.raw`(?:<\d{1,3}>)?${ISO_TIME} (?:\S+ )?${TAG} `),
  createPrefixWrapper('Fluentd', String.raw`${ISO_TIME}\t\S+\t`),
  createPrefixWrapper('a time before each line', `${ISO_TIME} `),
  createPrefixWrapper('pm2', String.raw`${LOCAL_TIME}: `),
  { ...createPrefixWrapper('text before JSON', String.raw`[^{"]{1,200}?(?=\{")`), isGuess: true },
];
