/** Headers in which a proxy names the client alone. */
const CLIENT_HEADERS = [
  ...['realIp', 'xRealIp', 'httpXRealIp', 'cfConnectingIp', 'httpCfConnectingIp', 'trueClientIp', 'httpTrueClientIp'],
  ...[
    'xClientIp',
    'httpXClientIp',
    'xClusterClientIp',
    'flyClientIp',
    'httpFlyClientIp',
    'fastlyClientIp',
    'httpFastlyClientIp',
  ],
  ...['doConnectingIp', 'xAzureClientIp', 'xEnvoyExternalAddress', 'xVercelForwardedFor', 'xNfClientConnectionIp'],
] as const;

/**
 * Common field names of logs, without case, separators, and the names of objects around them (see {@link FieldReader}). They
 * come from pino, winston, bunyan, morgan, Caddy, Traefik, Envoy, nginx, Apache, Kong, Logstash, the Elastic Common Schema,
 * OpenTelemetry, Heroku, Google Cloud, AWS, Azure, Cloudflare, Akamai, Vercel and the W3C format. The first existing field counts.
 */
export const FIELD_NAMES = {
  time: [
    ...['time', 'timestamp', 'ts', 'date', 'datetime', 'timeIso8601', 'timeLocal', 'startTime', 'startUTC', 'msec'],
    ...['eventTime', 'requestTime', 'requestTimeEpoch', 'timeEpoch', 't', 'edgeStartTimestamp', 'reqTimeSec'],
    ...['requestTimestamp', 'eventTimestamp', 'startedAt', 'timeGenerated', 'asctime', 'logTime', 'timestampMs'],
    ...[
      'createdAt',
      'observedTimestamp',
      'timeUnixNano',
      'receivedAt',
      'loggedAt',
      'accessTime',
      'dt',
      'epoch',
      'when',
    ],
    ...['start', 'startLocal', 'startedDateTime', 'requestReceived', 'receivedTime', 'timeReceived', 'occurredAt'],
    ...['created', 'dateCreated', 'timeCreated', 'generatedAt', 'logTimestamp', 'logDate', 'utcTime', 'instant'],
    ...['unixTime', 'unixTimestamp', 'epochMs', 'epochMillis', 'timeMs', 'timeMillis', 'observedTimeUnixNano'],
    ...['endTime', 'finishedAt', 'ingestionTime'],
  ],
  ip: [
    ...['ip', 'remoteAddr', 'remoteAddress', 'remoteIp', 'clientIp', 'clientHost', 'client', 'address'],
    ...['sourceIp', 'sourceIPAddress', 'downstreamRemoteAddress', 'downstreamRemoteAddressWithoutPort'],
    ...['downstreamDirectRemoteAddress', 'downstreamDirectRemoteAddressWithoutPort', 'cliIP', 'cIp'],
    ...['clientAddr', 'clientAddress', 'ipAddress', 'remoteHost', 'remote', 'addr', 'srcIp', 'fwd'],
    ...['userIp', 'sourceAddress', 'srcAddr', 'src', 'peerAddress', 'peerIp', 'socketRemoteAddress'],
    ...[
      'connectionRemoteAddress',
      'netPeerIp',
      'netSockPeerAddr',
      'networkPeerAddress',
      'httpClientIp',
      'visitorIp',
      'callerIp',
    ],
    ...['remoteIpAddress', 'clientIpAddress', 'callerIpAddress', 'userIpAddress', 'clientRequestIp', 'edgeClientIp'],
    ...['requestIp', 'reqIp', 'ipAddr', 'peerAddr', 'peer', 'originIp', 'rhost', ...CLIENT_HEADERS],
  ],
  forwarded: [
    ...['xForwardedFor', 'httpXForwardedFor', 'xff', 'forwardedFor', 'requestXForwardedFor', 'csXForwardedFor'],
    ...['fwd', 'forwarded', 'httpForwarded', 'httpRequestHeaderXForwardedFor', 'xOriginalForwardedFor'],
    // Other headers may be forged, so they are no addresses.
    ...['headersXForwardedFor', 'headersForwarded', 'requestForwarded', ...CLIENT_HEADERS],
  ],
  user: [
    ...['user', 'remoteUser', 'username', 'userId', 'clientUsername', 'user.id', 'user.name', 'csUsername', 'authUser'],
    ...['enduser.id', 'enduserId'],
  ],
  path: [
    ...['path', 'url', 'uri', 'requestUri', 'requestPath', 'url.path', 'requestUrl', 'clientRequestURI', 'csUriStem'],
    ...['reqPath', 'resourcePath', 'originalUrl', 'target', 'httpTarget', 'urlPath', 'route'],
  ],
  method: ['method', 'requestMethod', 'reqMethod', 'httpMethod', 'csMethod', 'verb', 'clientRequestMethod'],
  /** What else only requests have. */
  request: [
    ...['requestLine', 'status', 'statusCode', 'responseStatus', 'responseCode', 'scStatus', 'edgeResponseStatus'],
    ...[
      'httpStatus',
      'httpStatusCode',
      'originStatus',
      'downstreamStatus',
      'res.statusCode',
      'response.status',
      'httpRequest',
    ],
  ],
} as const satisfies Record<string, readonly string[]>;
