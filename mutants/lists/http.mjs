// Defects in the adapters.

/** The names of test files of a package. */
const names = (place, ...files) => files.map((file) => `packages/${place}/test/${file}.test.ts`);

const HEADERS = [
  ...names('http', 'draft-headers-in-express', 'problem-details', 'withdrawn-rejection-in-express'),
  ...names('express', 'rate-limit'),
  ...names('http', 'request-options-in-express'),
];
const REFUNDS = names('http', 'refunds-in-express', 'abandoned-starts-in-express', 'delay-in-express');
const LISTS = names('http', 'allow-list', 'client-key', 'request-options-in-express');
const LIMITER = [
  ...names('http', 'dry-run-in-express'),
  ...names('express', 'rate-limit', 'errors', 'misuse'),
  ...names('fastify', 'rate-limit', 'errors', 'misuse'),
  ...names('http', 'delay-in-express', 'request-options-in-express'),
];
const OF_FASTIFY = [
  ...names('fastify', 'groups', 'problem', 'hook-function'),
  ...names('http', 'request-options-in-fastify'),
  ...names('fastify', 'rate-limit', 'errors', 'misuse'),
  ...names('http', 'failing-functions-in-fastify'),
];

const of = (file, tests, mutants) =>
  mutants.map(([description, find, replace]) => {
    return { file: `packages/${file}.ts`, description, find, replace, tests };
  });

export const http = [
  ...of('http/src/base/seconds', HEADERS, [
    ['seconds are rounded down', 'Math.ceil(ms / 1000)', 'Math.floor(ms / 1000)'],
  ]),
  ...of('http/src/node/withdraw-rejection', HEADERS, [
    ['Retry-After stays when the request continues', "headers.removeHeader(response, 'Retry-After');", ''],
  ]),
  ...of('http/src/headers/rate-limit-headers', HEADERS, [
    ['the limiter with the most left is reported', 'limit }, figures) <= 0', 'limit }, figures) >= 0'],
    ['slots hide other limiters', 'if (responsesWithSlots.delete(target as object)) return false;', ''],
    ['slots replace other limiters', '(isOfSlots || this.#keepsEarlier', '(this.#keepsEarlier'],
    ['a rejection has no Retry-After', 'if (!decision.allowed) this.#writeRejection(target, decision);', ''],
    ['a rejection may be cached', "'no-store'", "'no-cache'"],
    ['an epoch reset is a delta', "this.#resetUnit === 'epoch' ? Date.now() : 0", '0'],
    [
      'exposed headers replace those of other middleware',
      "before === undefined || before === '' ? value",
      'true ? value',
    ],
  ]),
  ...of('http/src/headers/scarcest-limit', HEADERS, [
    [
      'the units that are left are compared',
      'other.limit - other.remaining * one.limit',
      'one.limit - other.remaining * other.limit',
    ],
    ['slots are reported', 'if (holdsSlots(limit) || !hasQuota', 'if (!hasQuota'],
    ['limits that the cost leaves out are reported', ' || costOf(decision, name) === 0', ''],
  ]),
  ...of('http/src/headers/draft-headers', HEADERS, [
    ['windows are in milliseconds', 'w=${ceilSeconds(windowMicros / 1000)}', 'w=${windowMicros / 1000}'],
    ['large numbers break the structured field', 'Math.min(value, MAX_INTEGER)', 'value'],
  ]),
  ...of('http/src/headers/partition-option', HEADERS, [
    ['dimensions may break the structured field', "typeof dimension === 'string' && DIMENSION.test(dimension)", 'true'],
    ['limits without dimensions are listed', '.filter((name) => dimensionsOf(name) !== undefined)', ''],
    ['a partition has no effect in silence', "partition === undefined || headers === 'draft-12'", 'true'],
  ]),
  ...of('http/src/headers/redirects', HEADERS, [
    ['a redirection has draft headers', 'status >= 300 && status < 400', 'false'],
    ['only a followed redirection has none', 'status < 400', 'status < 303'],
    ['an error has no draft headers', 'status < 400', 'status < 500'],
  ]),
  ...of(
    'http/src/node/omit-from-redirects',
    [...names('http', 'draft-headers-in-fastify'), ...HEADERS],
    [
      ['each limiter adds a function', 'omitting[omits] = true;', ''],
      ['the headers that a framework has copied stay', 'this.removeHeader(name);', ''],
    ],
  ),
  ...of('http/src/refunds/refund-rules', REFUNDS, [
    [
      'successes and failures are mixed up',
      'isSuccess ? skipSuccessfulRequests : skipFailedRequests',
      'isSuccess ? skipFailedRequests : skipSuccessfulRequests',
    ],
    ['an aborted request is always refunded', 'skipAbortedRequests ? refund() : undefined', 'refund()'],
    ['a status of 400 is a success', 'status < 400', 'status <= 400'],
  ]),
  ...of('http/src/client/client-key', LISTS, [
    ['each IPv6 address counts as a separate client', 'return keyOf(address);', 'return address;'],
    ['compatible addresses share one key', '  [], // Compatible', '  // Compatible'],
    ['the loopback address is an IPv4 address', ' && !hasPrefix(address, [], 104)', ''],
  ]),
  ...of('http/src/warnings/proxy-mistakes', names('http', 'warnings'), [
    [
      'a proxy that sends both headers causes a warning',
      "if (reader.getRequestHeader(request, 'x-forwarded-for') != null) {",
      'if (false) {',
    ],
  ]),
  ...of('http/src/client/allow-list', LISTS, [
    [
      'every address of the family is on the list',
      'isIPv4(address) === isOfIPv4 && hasPrefix(address, prefix, bits)',
      'isIPv4(address) === isOfIPv4',
    ],
    ['networks of IPv4 are a bit shorter', 'ownBits + 128 - size', 'ownBits + 127 - size'],
    ['networks of IPv6 have IPv4 addresses', 'isIPv4(address) === isOfIPv4 &&', 'true &&'],
    ['no address is on the list', 'return parsed !== undefined && networks', 'return parsed === undefined && networks'],
  ]),
  ...of(
    'http/src/gate/gate',
    [...names('http', 'outcomes'), ...LIMITER],
    [
      ['the decision is not attached', 'this.#host.attachDecision?.(request, decision);', ''],
      ['a dry run rejects', 'if (dryRun) return this.#allow(decision);', ''],
      [
        'a message fails although a handler responds',
        'host.hasHandler ? { ...resolved, message: {} } : resolved',
        'resolved',
      ],
      [
        'a request to which other code has responded is published',
        'known !== undefined && this.#hasResponded(response)',
        'known === null',
      ],
      [
        'a rejection to which other code has responded has a message',
        'if (this.#hasResponded(response)) return RESPONDED;',
        '',
      ],
    ],
  ),
  ...of(
    'http/src/node/http-limiter',
    [...LIMITER, ...names('http', 'abandoned-starts-in-express')],
    [
      ['a dry run waits in the queue', 'if (decision.delayMs > 0 && !isDryRun)', 'if (decision.delayMs > 0)'],
      [
        'a request with another response keeps its start',
        'if (outcome.decision.delayMs > 0)',
        'if (outcome.decision.delayMs < 0)',
      ],
    ],
  ),
  ...of('http/src/node/http-limiter', names('http', 'failing-functions-in-express'), [
    ['other code responds, and the request fails', '? toResponded(outcome) : outcome', '? outcome : outcome'],
  ]),
  ...of('http/src/node/http-limiter', HEADERS, [
    [
      'the status stays when the request continues',
      'if (nodeResponse.statusCode === status) nodeResponse.statusCode = 200;',
      '',
    ],
  ]),
  ...of('http/src/node/http-limiter', OF_FASTIFY, [
    [
      'a failing handler is a rejection',
      'onFailure(error, this.withdrawRejection(response, rejection, error));',
      'onFailure(error, false);',
    ],
  ]),
  ...of(
    'http/src/gate/request-checker',
    [...LIMITER, ...LISTS],
    [
      [
        'skipped requests count, and the others do not',
        "validateBoolean('skip(request)', isSkipped) ? undefined : this.#count(request)",
        "validateBoolean('skip(request)', isSkipped) ? this.#count(request) : undefined",
      ],
      ['the allow list is not consulted', 'if (isOnAllowList !== undefined) {', 'if (isOnAllowList === null) {'],
    ],
  ),
  ...of('http/src/gate/request-checker', names('http', 'request-options-in-express'), [
    ['a key of a limit that the plan lacks fails', 'pickNames(key, byName)', 'key'],
    ['a cost of a limit that the plan lacks fails', 'pickNames(cost, byName)', 'cost'],
    ['unknown names of the same window are ignored', 'resolved.sample === undefined ?', 'true ?'],
  ]),
  ...of('http/src/gate/request-checker', names('http', 'warnings'), [
    ['a key that uses the address is not inspected', 'usageChecks.inspectAddress(this.#reader, request)', 'undefined'],
  ]),
  ...of('http/src/refunds/settle', names('http', 'request-options-in-express'), [
    ['a settlement fails for a plan with fewer limits', 'limitersOfPlans.add(limiter);', ''],
  ]),
  ...of(
    'http/src/options/option-parsers',
    [...HEADERS, ...LIMITER],
    [['flags are set by default', 'value: unknown = false)', 'value: unknown = true)']],
  ),
  ...of(
    'http/src/rejection/status-option',
    [...HEADERS, ...LIMITER],
    [['a status below 400 is a rejection', '400, 599)', '100, 599)']],
  ),
  ...of(
    'http/src/rejection/message-option',
    names('http', 'problem-details').concat(names('express', 'rate-limit', 'errors', 'misuse')),
    [
      ['a body with other members is a format', 'names.every((name)', 'names.some((name)'],
      ['problem details hide a page', 'if (type === HTML_TYPE) return', 'if (type === HTML_TYPE && !isProblem) return'],
    ],
  ),
  ...of('http/src/rejection/negotiate', names('http', 'render-rejection'), [
    ['a less specific range wins', 'specificity > best[1]', 'specificity < best[1]'],
    ['the last type wins a tie', 'specificity > best[1]', 'specificity >= best[1]'],
  ]),
  ...of('http/src/rejection/render-rejection', names('http', 'render-rejection'), [
    ['every client gets text', 'negotiate(accept, DEFAULT_TYPES)', "negotiate('text/plain', DEFAULT_TYPES)"],
    [
      'another status has the body of the last one',
      'status !== lastStatus || message !== lastMessage',
      'message !== lastMessage',
    ],
  ]),
  ...of('http/src/rejection/rejection', HEADERS, [
    ['one second is plural', "seconds === 1 ? '' : 's'", "'s'"],
    ['the violated policies are not named', "'violated-policies': decision.violated", "'violated-policies': []"],
  ]),
  ...of('http/src/node/delay-request', REFUNDS, [
    ['a client that leaves keeps its start', '    cancel();\n    refund();', '    cancel();'],
  ]),
  ...of('express/src/attach-decision', names('express', 'request-property'), [
    [
      'the app does not see the decision of an app within',
      'return object === prototype ? undefined : object;',
      'return object === prototype ? undefined : prototype;',
    ],
    ['a property of the request hides the decision', ' && !Object.hasOwn(request, name)', ''],
    ['a name of the app is taken', 'name in prototype || ', ''],
    ['a request without an app has no decision', 'else Object.assign(request, { [name]: decision });', ''],
    [
      'an heir of the request has no decision',
      'object = Object.getPrototypeOf(object)) {\n        if (values',
      'object = null) {\n        if (values',
    ],
  ]),
  ...of('http/src/node/send-rejection', HEADERS, [
    ['a rejection is a 200', 'response.statusCode = rejection.status;', ''],
  ]),
  ...of('fastify/src/plugin', OF_FASTIFY, [
    [
      'a route cannot be excluded',
      'options === undefined || options === false || findRegistration(request.server)',
      'options === undefined || findRegistration(request.server)',
    ],
    [
      'routes without their own limit are not limited',
      'if (options === undefined && globalHook !== undefined) globalHook.run(request, reply, done);\n    else',
      '',
    ],
  ]),
  ...of('hono/src/node-headers', names('hono', 'headers-on-node'), [
    ['an inner request writes to the outer response', 'if (isRequestOf(incoming, c.req.raw))', 'if (true)'],
    ['limiters of one request write to different places', 'if (headers === undefined) {', 'if (true) {'],
  ]),
  ...of('hono/src/node-headers', names('hono', 'inner-apps'), [
    ['a mounted app hides the limit of the outer app', '[hasInnerLimiter] === true', '[hasInnerLimiter] === null'],
  ]),
  ...of('hono/src/rate-limit', names('hono', 'inner-apps'), [
    ['a rejection has policies twice', 'nodeHeadersOf(c)?.copied();', ''],
  ]),
  ...of('http/src/web/allowed-result', names('hono', 'headers-on-node'), [
    ['exposed headers of a response to Node are missing', 'return headers.areExposed ?', 'return false ?'],
  ]),
  ...of('http/src/web/allowed-result', names('hono', 'slots'), [
    [
      'what settles a dropped response keeps it alive',
      '(settle<Call>).bind(undefined, gate, outcome, onSettled)',
      '(...ended: [number?, Call?, Response?]) => settle(gate, outcome, onSettled, ...ended)',
    ],
  ]),
  ...of('http/src/web/allowed-result', names('web', 'responses'), [
    [
      'a worker ends before its request is settled',
      'onSettled(gate.settle(outcome',
      'onSettled(Promise.resolve()); void (gate.settle(outcome',
    ],
  ]),
  ...of('http/src/gate/gate', names('web', 'responses'), [
    ['a worker ends before its slots are released', 'Promise.all([released, refunded])', 'Promise.resolve()'],
  ]),
  ...of('http/src/web/web-response-end', names('hono', 'slots'), [
    ['the next part of a dropped response keeps it alive', 'highWaterMark: 0', 'highWaterMark: 1'],
  ]),
  ...of('fastify/src/route-limits', OF_FASTIFY, [
    ['HEAD and GET have separate counts', "if (methods.includes('GET')) hooksByRoute.set(`HEAD ${url}`, hook);", ''],
    [
      'the routes of a group have separate counts',
      'merged.prefix = `${prefix}:group ${groupId}`',
      'merged.prefix = `${prefix}:group ${groupId} ${name}`',
    ],
    ['routes share one count', 'else if (routeOptions.prefix === undefined) merged.prefix = `${prefix}:${name}`;', ''],
  ]),
  ...of('http/src/options/merge-options', OF_FASTIFY, [
    [
      'the limits of the plugin override the window of a route',
      "drop('limits', 'fallbackLimits')",
      "drop('fallbackLimits')",
    ],
  ]),
  ...of('fastify/src/error-observers', names('fastify', 'error-observers'), [
    ['an onError hook misses rejections', 'context.onError !== null || ', ''],
    ['an error handler misses rejections', '!hasDefaultErrorHandler(context) || ', ''],
    ['a response schema misses rejections', ' || hasResponseSchema(context)', ''],
    ['a log controller misses rejections', 'isObserved ||= hasOwnLogController(request.server);', ''],
    ['a logger misses rejections', 'if (!isNoop(info) || !isNoop(error)) return true;', ''],
  ]),
  ...of('fastify/src/reply-headers', names('fastify', 'reply-headers'), [
    ['a method that the app has replaced misses headers', 'reply.header !== known.header || ', ''],
    ['a replaced method is taken for that of Fastify', "!String(header).includes('set-cookie')", 'false'],
    ['a header of Node is overlooked', 'value === undefined ? reply.raw.getHeader(name) : value', 'value'],
  ]),
];
