// The counterpart of `platform.ts` for platforms other than Node.

/** The reason phrases of the statuses that a rejection may have (RFC 9110, section 15, and IANA's registry). */
export const STATUS_CODES: Readonly<Record<number, string>> = Object.fromEntries(
  [
    [400, 'Bad Request,Unauthorized,Payment Required,Forbidden,Not Found,Method Not Allowed,Not Acceptable'],
    [407, 'Proxy Authentication Required,Request Timeout,Conflict,Gone,Length Required,Precondition Failed'],
    [
      413,
      "Payload Too Large,URI Too Long,Unsupported Media Type,Range Not Satisfiable,Expectation Failed,I'm a Teapot",
    ],
    [421, 'Misdirected Request,Unprocessable Entity,Locked,Failed Dependency,Too Early,Upgrade Required'],
    [428, 'Precondition Required,Too Many Requests'],
    [431, 'Request Header Fields Too Large'],
    [451, 'Unavailable For Legal Reasons'],
    [500, 'Internal Server Error,Not Implemented,Bad Gateway,Service Unavailable,Gateway Timeout'],
    [505, 'HTTP Version Not Supported,Variant Also Negotiates,Insufficient Storage,Loop Detected'],
    [509, 'Bandwidth Limit Exceeded,Not Extended,Network Authentication Required'],
  ].flatMap(([first, phrases]) =>
    (phrases as string).split(',').map((phrase, index) => [Number(first) + index, phrase]),
  ),
);

export const isNativeError = (value: unknown): value is Error =>
  Object.prototype.toString.call(value) === '[object Error]';
