// Takes the place of `platform.ts` on platforms other than Node.

/** The phrases of statuses that rejections commonly have (RFC 9110, section 15). All of them would add 0.4 kB to bundles. */
export const STATUS_CODES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Payload Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

export const isNativeError = (value: unknown): value is Error =>
  Object.prototype.toString.call(value) === '[object Error]';
