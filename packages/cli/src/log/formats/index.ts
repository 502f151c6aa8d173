import { accessLog } from './access-log.js';
import type { LogFormat } from './format.js';
import { caddyConsole, jsonLines, logfmt, ltsv } from './record-formats.js';
import { alb, elb, envoy, haproxy, istio, s3, squid } from './text-formats.js';
import { w3cExtended } from './w3c-extended.js';

/** All formats, the most specific first. Of formats that fit a log equally well, the first one counts. */
export const LOG_FORMATS: readonly LogFormat[] = [
  ...[accessLog, jsonLines, haproxy, envoy, istio, alb, elb, s3, squid, w3cExtended, caddyConsole, ltsv, logfmt],
];

/** The values of `--format`. A combined line starts like a common one, so one parser reads both. */
export const FORMAT_NAMES: readonly string[] = ['common', ...LOG_FORMATS.map(({ name }) => name)];

export function formatOf(name: string): LogFormat {
  return name === 'common' ? { ...accessLog, name } : LOG_FORMATS.find((format) => format.name === name)!;
}
