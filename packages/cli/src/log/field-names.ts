/**
 * Common field names of JSON logs: pino, winston, Caddy, Traefik, Envoy, nginx, Logstash, Google Cloud, AWS and custom
 * ones. The first existing field counts. Dots select nested fields.
 */
export const FIELD_NAMES = {
  time: [
    ...[
      'time',
      'timestamp',
      '@timestamp',
      'ts',
      'date',
      'time_iso8601',
      'time_local',
      'start_time',
      'StartUTC',
      'msec',
    ],
    ...['eventTime'],
  ],
  ip: [
    ...[
      'ip',
      'remote_addr',
      'remoteAddress',
      'remote_ip',
      'remoteIp',
      'client_ip',
      'clientIp',
      'clientip',
      'client.ip',
    ],
    ...['ClientHost', 'client', 'address', 'source.ip', 'sourceIp', 'sourceIPAddress', 'identity.sourceIp'],
    ...['req.ip', 'req.remoteAddress', 'request.client_ip', 'request.remote_ip'],
    ...['httpRequest.remoteIp', 'httpRequest.clientIp'],
    ...['downstream_remote_address', 'downstream_remote_address_without_port'],
    ...['downstream_direct_remote_address', 'downstream_direct_remote_address_without_port'],
  ],
  user: ['user', 'remote_user', 'username', 'user_id', 'userId', 'ClientUsername', 'req.user', 'user.id', 'user.name'],
  path: [
    ...['path', 'url', 'uri', 'request_uri', 'RequestPath', 'req.path', 'req.url', 'request.uri'],
    ...['url.path', 'httpRequest.requestUrl', 'httpRequest.uri'],
  ],
} as const satisfies Record<string, readonly string[]>;
