/**
 * Common field names of logs. They come from pino, winston, bunyan, Caddy, Traefik, Envoy, nginx, Logstash, the Elastic
 * Common Schema and Heroku. Others come from Google Cloud, AWS, Azure, Cloudflare, Akamai, Vercel and the W3C format. The
 * first existing field counts. Dots select nested fields.
 */
export const FIELD_NAMES = {
  time: [
    ...['time', 'timestamp', '@timestamp', 'ts', 'date', 'datetime', 'time_iso8601', 'time_local', 'start_time'],
    ...['StartUTC', 'msec', 'eventTime', 'requestTime', 'requestTimeEpoch', 'requestContext.timeEpoch', 't', '@t'],
    ...['EdgeStartTimestamp', 'reqTimeSec', 'proxy.timestamp', 'request_timestamp', 'eventTimestamp'],
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
    ...['ClientIP', 'cliIP', 'c-ip', 'clientIP', 'proxy.clientIp', 'properties.clientIP', 'properties.clientIp'],
    ...[
      'requestContext.identity.sourceIp',
      'requestContext.http.sourceIp',
      'ClientAddr',
      'client_addr',
      'clientAddress',
    ],
    ...[
      'client.address',
      'network.client.ip',
      'ip_address',
      'ipAddress',
      'remote_host',
      'remoteHost',
      'remote',
      'addr',
    ],
    ...['src_ip', 'fwd'],
  ],
  forwarded: [
    ...['x_forwarded_for', 'http_x_forwarded_for', 'x-forwarded-for', 'X-Forwarded-For', 'xff', 'forwarded_for'],
    ...['forwardedFor', 'request_X-Forwarded-For', 'req.headers.x-forwarded-for', 'request.headers.X-Forwarded-For'],
    ...['headers.x-forwarded-for', 'headers.X-Forwarded-For', 'cs(X-Forwarded-For)', 'fwd', 'req.headers.forwarded'],
  ],
  user: [
    ...['user', 'remote_user', 'username', 'user_id', 'userId', 'ClientUsername', 'req.user', 'user.id', 'user.name'],
    ...['cs-username'],
  ],
  path: [
    ...['path', 'url', 'uri', 'request_uri', 'RequestPath', 'req.path', 'req.url', 'request.uri'],
    ...['url.path', 'httpRequest.requestUrl', 'httpRequest.uri', 'ClientRequestURI', 'cs-uri-stem', 'reqPath'],
    ...['properties.requestUri', 'proxy.path', 'resourcePath'],
  ],
} as const satisfies Record<string, readonly string[]>;
