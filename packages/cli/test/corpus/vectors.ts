/**
 * The known result for a sample. Unless stated otherwise, a sample contains six requests of two clients: four of
 * 203.0.113.7 (at 0, 0.25, 0.5 and 30 seconds) and two of 198.51.100.23 (at 1.1 and 31.2 seconds).
 */
interface Vector {
  /** The file in `samples`. */
  readonly sample: string;
  /** The format that the command reports. */
  readonly format: string;
  /** What surrounds each line, the outermost first. @defaultValue nothing */
  readonly wrappers?: readonly string[];
  readonly args?: readonly string[];
  /** The requests of each key, the busiest first. @defaultValue the two addresses above */
  readonly keys?: Readonly<Record<string, number>>;
  /** The first and the last time. @defaultValue 2026-03-01, 00:00:00 and 31 seconds later, in whole seconds */
  readonly times?: readonly [from: string, to: string];
  /** The finest step of the times. @defaultValue 1000 */
  readonly resolutionMs?: number;
  /** The note about the sample in the report. */
  readonly note?: string;
  /** Lines that are not requests. @defaultValue 0 */
  readonly unparsed?: number;
  /** Each matches one warning, in order. @defaultValue no warning */
  readonly warnings?: readonly RegExp[];
}

/** A sample that the command rejects, with its message. */
interface ProblemVector {
  readonly sample: string;
  readonly message: RegExp;
}

const DAY = '2026-03-01T00:00:';

/** The times of the samples in milliseconds. */
const FINE = { times: [`${DAY}00.000Z`, `${DAY}31.200Z`], resolutionMs: 10 } as const;

/** nginx, Apache, Caddy and HAProxy wrote these samples. Their client addresses were replaced. */
const REAL = { times: ['2026-11-22T05:20:49.000Z', '2026-11-22T05:21:20.000Z'] } as const;

const PROXY =
  /^10\.0\.0\.5 is a private address and sent 6 of 6 requests \(100%\)\. It is probably a proxy; .*--by forwarded/;
const PROXY_KEYS = { '10.0.0.5': 6 };

/** Access logs of servers. */
const ACCESS_LOG_VECTORS: readonly Vector[] = [
  { sample: 'nginx-combined.log', format: 'combined', ...REAL },
  { sample: 'nginx-ingress.log', format: 'combined', ...REAL },
  { sample: 'nginx-iso.log', format: 'combined', ...REAL },
  { sample: 'nginx-vhost.log', format: 'combined', ...REAL, note: 'skipped the prefix "192.0.2.80 "' },
  { sample: 'nginx-main.log', format: 'combined', ...REAL, keys: PROXY_KEYS, warnings: [PROXY] },
  { sample: 'nginx-main.log', format: 'combined', ...REAL, args: ['--by', 'forwarded'] },
  {
    sample: 'nginx-main.log',
    format: 'combined',
    ...REAL,
    args: ['--by', 'forwarded', '--trusted-proxies', '1'],
    keys: { '203.0.113.7': 4, '10.1.2.3': 2 },
  },
  {
    sample: 'nginx-main.log',
    format: 'combined',
    ...REAL,
    args: ['--by', 'forwarded', '--trusted-proxies', '10.0.0.0/8,203.0.113.7'],
    keys: { '9.9.9.9': 4, '198.51.100.23': 2 },
  },
  { sample: 'apache-common.log', format: 'combined', ...REAL },
  { sample: 'apache-combined.log', format: 'combined', ...REAL },
  { sample: 'apache-vhost.log', format: 'combined', ...REAL, note: 'skipped the prefix "www.example.com:80 "' },
  {
    sample: 'apache-vhost-without-port.log',
    format: 'combined',
    ...REAL,
    note: 'skipped the prefix "www.example.com "',
  },
  { sample: 'apache-forwarded-only.log', format: 'combined', ...REAL },
  {
    sample: 'apache-forwarded-prefix.log',
    format: 'combined',
    ...REAL,
    keys: PROXY_KEYS,
    note: 'skipped the prefix "9.9.9.9, 203.0.113.7 "',
    warnings: [PROXY],
  },
  {
    sample: 'apache-forwarded-prefix.log',
    format: 'combined',
    ...REAL,
    args: ['--by', 'forwarded'],
    note: 'skipped the prefix "9.9.9.9, 203.0.113.7 "',
  },
  {
    sample: 'apache-msec.log',
    format: 'combined',
    times: ['2026-11-22T05:20:49.715Z', '2026-11-22T05:21:20.882Z'],
    resolutionMs: 1,
  },
  { sample: 'haproxy-clf.log', format: 'combined', ...REAL },
  { sample: 'plain.log', format: 'combined' },
  {
    sample: 'plain.log',
    format: 'combined',
    args: ['--by', 'forwarded'],
    warnings: [/^No line contains a forwarded address, so each caller is the address that sent the request$/],
  },
  { sample: 'plain.log.gz', format: 'combined' },
  { sample: 'utf16-le.log', format: 'combined' },
  { sample: 'utf16-be.log', format: 'combined' },
  { sample: 'utf16-without-mark.log', format: 'combined' },
  { sample: 'ipv6.log', format: 'combined', keys: { '2001:db8:a::/56': 4, '2001:db8:b::/56': 2 } },
  { sample: 'ports.log', format: 'combined' },
  { sample: 'morgan-combined.log', format: 'combined' },
  { sample: 'gunicorn.log', format: 'combined' },
  { sample: 'lighttpd.log', format: 'combined' },
  { sample: 'python-http-server.log', format: 'combined' },
  { sample: 'api-gateway-clf.log', format: 'combined' },
  { sample: 'traefik-common.log', format: 'combined' },
  { sample: 'user-of-two-words.log', format: 'combined' },
  { sample: 'user-of-two-words.log', format: 'combined', args: ['--by', 'user'], keys: { 'Jane Doe': 6 } },
  {
    sample: 'host-names.log',
    format: 'combined',
    keys: { 'a.example.net': 4, 'b.example.net': 2 },
    warnings: [/^6 of 6 requests \(100%\) have a caller that is not an address, such as "a\.example\.net"; see --by$/],
  },
  { sample: 'proxy-for-all.log', format: 'combined', keys: PROXY_KEYS, warnings: [PROXY] },
  {
    sample: 'nginx-msec.log',
    format: 'pattern',
    args: ['--pattern', '^(?<time>\\S+) (?<key>\\S+) ".*" (?<cost>\\d+)$'],
    times: ['2026-11-22T05:20:49.715Z', '2026-11-22T05:21:20.879Z'],
    resolutionMs: 1,
  },
  { sample: 'csv.log', format: 'pattern', args: ['--pattern', '^(?<time>[^;]+);(?<key>[^;]+);'], ...FINE },
  { sample: 'rails.log', format: 'pattern', args: ['--pattern', ' for (?<key>\\S+) at (?<time>.+)$'] },
];

/** Formats with named fields, and the other formats of servers and clouds. */
const FIELD_VECTORS: readonly Vector[] = [
  {
    sample: 'nginx-json.log',
    format: 'json',
    times: ['2026-11-22T05:20:49.715Z', '2026-11-22T05:21:20.879Z'],
    resolutionMs: 1,
  },
  {
    sample: 'caddy-json.log',
    format: 'json',
    times: ['2026-11-22T05:20:49.743Z', '2026-11-22T05:21:20.882Z'],
    resolutionMs: 0.001,
  },
  {
    sample: 'caddy-json.log',
    format: 'json',
    args: ['--by', 'forwarded'],
    times: ['2026-11-22T05:20:49.743Z', '2026-11-22T05:21:20.882Z'],
    resolutionMs: 0.001,
  },
  {
    sample: 'caddy-console.log',
    format: 'caddy',
    times: ['2026-11-22T05:20:49.742Z', '2026-11-22T05:21:20.882Z'],
    resolutionMs: 1,
  },
  {
    sample: 'haproxy-raw.log',
    format: 'haproxy',
    times: ['2026-11-22T05:20:49.718Z', '2026-11-22T05:21:20.880Z'],
    resolutionMs: 1,
  },
  {
    sample: 'traefik-json.log',
    format: 'json',
    ...FINE,
    times: ['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:31.200Z'],
    resolutionMs: 0.001,
  },
  {
    sample: 'envoy-text.log',
    format: 'envoy',
    ...FINE,
    note: 'the format has no client address, so the client comes from X-Forwarded-For',
  },
  { sample: 'envoy-json.log', format: 'json', ...FINE },
  { sample: 'istio-text.log', format: 'istio', ...FINE },
  { sample: 'istio-text.log', format: 'istio', ...FINE, args: ['--by', 'forwarded'] },
  { sample: 'iis.log', format: 'w3c' },
  { sample: 'cloudfront.log', format: 'w3c' },
  { sample: 'alb.log', format: 'alb', ...FINE },
  { sample: 'elb.log', format: 'elb', ...FINE },
  { sample: 's3.log', format: 's3' },
  { sample: 'squid.log', format: 'squid', ...FINE },
  { sample: 'ltsv.log', format: 'ltsv' },
  { sample: 'logfmt.log', format: 'logfmt', ...FINE },
  { sample: 'heroku-router.log', format: 'logfmt', wrappers: ['syslog'], ...FINE },
  { sample: 'cloudflare.log', format: 'json' },
  { sample: 'cloudflare-nanoseconds.log', format: 'json', ...FINE },
  { sample: 'api-gateway-json.log', format: 'json' },
  { sample: 'api-gateway-epoch.log', format: 'json', ...FINE },
  { sample: 'aws-waf.log', format: 'json', ...FINE },
  { sample: 'azure-application-gateway.log', format: 'json', ...FINE },
  { sample: 'azure-front-door.log', format: 'json', ...FINE, resolutionMs: 0.001 },
  { sample: 'google-cloud-load-balancer.log', format: 'json', ...FINE, resolutionMs: 0.001 },
  { sample: 'akamai-datastream.log', format: 'json', ...FINE },
  { sample: 'fastly.log', format: 'json' },
  { sample: 'vercel.log', format: 'json', ...FINE },
  { sample: 'pino.log', format: 'json', ...FINE },
  { sample: 'pino.log', format: 'json', ...FINE, args: ['--by', 'forwarded'] },
  { sample: 'winston.log', format: 'json', ...FINE },
  { sample: 'bunyan.log', format: 'json', ...FINE },
  { sample: 'elastic-common-schema.log', format: 'json', ...FINE },
  { sample: 'logstash.log', format: 'json', ...FINE },
  { sample: 'name-before-address.log', format: 'json', ...FINE },
  { sample: 'unix-seconds.log', format: 'json' },
  {
    sample: 'id-per-request.log',
    format: 'json',
    keys: {},
    times: ['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:11.000Z'],
    warnings: [
      /^Each of the 12 callers has exactly one request, so no limit would reject any\. Is the key the client\?/,
    ],
  },
];

/** Log collectors around other formats. */
const WRAPPER_VECTORS: readonly Vector[] = [
  { sample: 'cri.log', format: 'combined', wrappers: ['Kubernetes (CRI)'] },
  { sample: 'cri-json.log', format: 'json', wrappers: ['Kubernetes (CRI)'], ...FINE },
  { sample: 'cri-json-without-time.log', format: 'json', wrappers: ['Kubernetes (CRI)'], ...FINE },
  { sample: 'cri-haproxy.log', format: 'haproxy', wrappers: ['Kubernetes (CRI)'], ...FINE },
  { sample: 'docker-json-file.log', format: 'combined', wrappers: ['Docker (json-file)'] },
  { sample: 'docker-json-file-of-json.log', format: 'json', wrappers: ['Docker (json-file)'], ...FINE },
  { sample: 'docker-compose.log', format: 'combined', wrappers: ['docker compose'] },
  {
    sample: 'docker-compose-timestamps.log',
    format: 'combined',
    wrappers: ['docker compose', 'a time before each line'],
  },
  { sample: 'docker-compose-color.log', format: 'json', wrappers: ['docker compose'], ...FINE },
  { sample: 'docker-logs-timestamps.log', format: 'combined', wrappers: ['a time before each line'] },
  { sample: 'kubectl-prefix.log', format: 'combined', wrappers: ['kubectl --prefix'] },
  {
    sample: 'kubectl-prefix-timestamps.log',
    format: 'json',
    wrappers: ['kubectl --prefix', 'a time before each line'],
    ...FINE,
  },
  { sample: 'stern.log', format: 'combined', note: 'skipped the prefix "web-5d9c7b8f6d-x2x7k nginx "' },
  { sample: 'pm2.log', format: 'combined', wrappers: ['docker compose'] },
  { sample: 'journald-json.log', format: 'combined', wrappers: ['journald'] },
  { sample: 'journald-json-bytes.log', format: 'logfmt', wrappers: ['journald'], ...FINE },
  { sample: 'journald-short.log', format: 'combined', wrappers: ['syslog'] },
  { sample: 'journald-short-iso.log', format: 'combined', wrappers: ['syslog'] },
  { sample: 'syslog-rfc3164.log', format: 'combined', wrappers: ['syslog'] },
  { sample: 'syslog-rfc5424.log', format: 'combined', wrappers: ['syslog (RFC 5424)'] },
  { sample: 'syslog-rsyslog.log', format: 'combined', wrappers: ['syslog'] },
  { sample: 'syslog-address-as-host.log', format: 'combined', wrappers: ['syslog'] },
  {
    sample: 'nginx-syslog.log',
    format: 'combined',
    wrappers: ['syslog'],
    times: ['2026-11-22T05:20:49.000Z', '2026-11-22T05:21:20.000Z'],
  },
  {
    sample: 'haproxy-syslog.log',
    format: 'haproxy',
    wrappers: ['syslog'],
    times: ['2026-11-22T05:20:49.717Z', '2026-11-22T05:21:20.880Z'],
    resolutionMs: 1,
  },
  {
    sample: 'haproxy-tcp-rfc5424.log',
    format: 'haproxy',
    wrappers: ['syslog (RFC 5424)'],
    times: ['2026-11-22T05:20:49.709Z', '2026-11-22T05:21:20.878Z'],
    resolutionMs: 1,
  },
  { sample: 'fluentd-file.log', format: 'json', wrappers: ['Fluentd'], ...FINE },
  { sample: 'filebeat.log', format: 'combined', wrappers: ['a text field of JSON lines'] },
  { sample: 'google-cloud-text.log', format: 'combined', wrappers: ['a text field of JSON lines'] },
  { sample: 'cloudwatch-export.log', format: 'combined', wrappers: ['a time before each line'] },
  {
    sample: 'noise-between-lines.log',
    format: 'combined',
    wrappers: ['docker compose'],
    unparsed: 6,
    warnings: [/^6 of 12 lines \(50%\) could not be parsed; the first, line 2 of /],
  },
];

export const VECTORS: readonly Vector[] = [...ACCESS_LOG_VECTORS, ...FIELD_VECTORS, ...WRAPPER_VECTORS];

const UNKNOWN = /it is in no known format; describe it with `--pattern`: /;
const NO_TIME = /it has no time in a field with a common name; name it with `--time-field`: /;

export const PROBLEM_VECTORS: readonly ProblemVector[] = [
  { sample: 'plain.log.xz', message: /it is xz data; pipe it in: `xz -dc plain\.log\.xz \| rollgate …`/ },
  { sample: 'plain.log.zst', message: /it is zstd data; pipe it in: `zstd -dc plain\.log\.zst \| rollgate …`/ },
  { sample: 'plain.log.bz2', message: /it is bzip2 data; pipe it in: `bzip2 -dc plain\.log\.bz2 \| rollgate …`/ },
  { sample: 'nginx-msec.log', message: UNKNOWN },
  { sample: 'csv.log', message: UNKNOWN },
  { sample: 'rails.log', message: UNKNOWN },
  { sample: 'uvicorn.log', message: UNKNOWN },
  { sample: 'morgan-dev.log', message: UNKNOWN },
  { sample: 'nginx-error.log', message: UNKNOWN },
  { sample: 'prose.log', message: UNKNOWN },
  { sample: 'syslog-without-year.log', message: NO_TIME },
  { sample: 'json-without-time.log', message: NO_TIME },
  { sample: 'cloudtrail.log', message: NO_TIME },
  { sample: 'json-array.log', message: /it is a JSON array; write one object per line with `jq -c "\.\[\]"`: / },
];
