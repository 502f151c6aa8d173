import { FINE, type Vector } from './vector';

/** nginx, Apache, Caddy and HAProxy wrote these samples. Their client addresses were replaced. */
const REAL = { times: ['2026-11-22T05:20:49.000Z', '2026-11-22T05:21:20.000Z'] } as const;

const PROXY =
  /^10\.0\.0\.5 is a private address and sent 6 of 6 requests \(100%\)\. It is probably a proxy; .*--by forwarded/;
const PROXY_KEYS = { '10.0.0.5': 6 };

export const ACCESS_LOG_VECTORS: readonly Vector[] = [
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
