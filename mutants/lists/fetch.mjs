// Defects in outgoing calls: how often a call is repeated, what headers mean, who shares a quota, and what is lost.

const of = (file, tests, mutants) =>
  mutants.map(([description, find, replace]) => ({
    ...{ file: `packages/fetch/src/${file}`, description, find, replace },
    tests: tests.map((name) => `packages/fetch/test/${name}.test.ts`),
  }));

export const fetch = [
  ...of(
    'fetch/create-fetch.ts',
    ['create-fetch', 'failures'],
    [
      ['a call is sent once more than allowed', 'attempt === attempts ||', 'attempt > attempts ||'],
      ['the waits of earlier attempts do not count', 'waitMs -= started.waitedMs;', ''],
      ['the server cannot forbid to repeat', '|| !report.mayRetry', ''],
      [
        'an aborted call gets its rejection',
        'if (rejection !== undefined && !signal?.aborted)',
        'if (rejection !== undefined)',
      ],
      ['the body of a call that is not sent stays open', '    cancelBody(stream, error);\n', ''],
      [
        'a call whose connection breaks stays open',
        'void calls.closing.fail(started, isFailedConnect(error, started.plan.request.url.origin));',
        '',
      ],
      ['the response to another server counts', 'origin !== started.plan.request.url.origin', 'false'],
    ],
  ),
  ...of(
    'fetch/create-fetch.ts',
    ['settle'],
    [['a response waits for the store', 'const finished = calls.', 'const finished: any = await calls.']],
  ),
  ...of(
    'calls/unsent-body.ts',
    ['bodies'],
    [
      ['a web stream is not read before it is sent', 'return readAhead(body);', 'return body;'],
      ['a web stream that fails after its first chunk keeps waiting', '(error) => controller.error(error)', '() => {}'],
      ['a web stream is not canceled', 'cancel: (reason) => reader.cancel(reason),', ''],
      ['a web stream that fails does not end the wait', 'isErrored(body as never) && listener(error as Error)', '{}'],
      ['a web stream that fails without a reason does not end the wait', 'isErrored(body as never) &&', 'error &&'],
      ['a stream that fails does not end the wait', "ending.abort(new TypeError('fetch failed', { cause }))", '{}'],
      [
        'a stream that is not sent stays open',
        'destroy.call(body, reason instanceof Error ? reason : undefined);',
        '{}',
      ],
    ],
  ),
  ...of(
    'fetch/copy-for-settle.ts',
    ['settle'],
    [
      ['a caller that cancels keeps the copy open', 'end(new DOMException(', 'void (new DOMException('],
      ['a body that breaks is a failure', '          isBroken = true;\n', ''],
      ['a status that no constructor takes fails', 'original.status > 599 ?', 'false ?'],
      ['the copy has another status', "'status', 'statusText', 'ok'", "'statusText', 'ok'"],
      [
        'a copy ends when the caller has read everything',
        'if (isReadable(source as unknown as NodeStream) === true)',
        'if (true)',
      ],
    ],
  ),
  ...of(
    'fetch/settle-cost.ts',
    ['settle'],
    [
      ['a copy that is not read stays open', 'copy?.end();', ''],
      ['a function that never returns keeps its slot', 'Promise.race([cost, timeout])', 'Promise.race([cost])'],
    ],
  ),
  ...of(
    'fetch/call-of.ts',
    ['arguments', 'bodies', 'create-fetch', 'unexpected-values'],
    [
      ['the caller changes the body', 'copy ?? startBody(', 'startBody('],
      [
        'invalid arguments are found after the wait',
        '  Reflect.construct(Request, [url',
        '  if (url === null) Reflect.construct(Request, [url',
      ],
      ['a stream without `duplex` is found after the wait', 'return new ReadableStream();', "return '';"],
      ['a stream is sent twice', 'stream: copy === undefined ?', 'stream: false ?'],
      [
        'the signal of a `Request` is lost',
        '(options?.signal === undefined ? given?.signal : options.signal)',
        'options?.signal',
      ],
    ],
  ),
  ...of(
    'fetch/failed-connects.ts',
    ['unexpected-values'],
    [
      ['a failed connect to another server counts as unsent', 'return origins.get(cause) === origin;', 'return true;'],
      ['a call whose connect has failed counts', 'return origins.get(cause) === origin;', 'return false;'],
      ['the causes of an error are not read', 'MAX_DEPTH = 5', 'MAX_DEPTH = 1'],
    ],
  ),
  ...of(
    'calls/backoff.ts',
    ['unexpected-values'],
    [['a server that demands no wait is called again and again', '|| attempt === 1', '|| true']],
  ),
  ...of(
    'headers/server-clock.ts',
    ['headers', 'unexpected-values'],
    [
      ['a wrong `Date` counts', 'difference <= median + SPREAD_MS', 'true'],
      ['what a wrong clock has shown counts', '> SPREAD_MS) this.#seconds = [];', '> SPREAD_MS) {}'],
      ['each response is the first one', '(this.#offset ?? offset)', '-1e9'],
    ],
  ),
  ...of(
    'fetch/copy-arguments.ts',
    ['arguments'],
    [
      ['the caller changes the address', 'input instanceof URL ? new URL(input) :', 'input instanceof URL ? input :'],
      ['the caller changes the headers', 'copy.headers = copyHeaders(headers)', 'copy.headers = headers'],
      ['the caller changes the bytes', 'return body.slice(0);', 'return body;'],
      ['the bytes of another realm are not copied', 'types.isArrayBuffer(body)', 'body instanceof ArrayBuffer'],
      ['getters of a class are lost', 'if (value !== undefined) copy[name] = value;', ''],
      ['a getter runs twice', 'name in copy ? undefined :', ''],
      ['a stream counts as a form', '&& Symbol.iterator in (body as object)', ''],
      ['the class of a form needs no arguments', 'form instanceof FormData ? FormData :', 'false ? FormData :'],
      ['a longer header is cut', '[...(pair as [])]', '[...(pair as [])].slice(0, 2)'],
    ],
  ),
  ...of(
    'calls/may-repeat.ts',
    ['create-fetch'],
    [['a key does not make a call idempotent', 'hasKey || IDEMPOTENT', 'IDEMPOTENT']],
  ),
  ...of(
    'calls/outgoing-calls.ts',
    ['failures', 'unexpected-values', 'create-fetch'],
    [
      ['old numbers from a cache count', "isStored(head.header('age')) && !given.isRejected", 'false'],
      [
        'a rejection from a cache reports no quota',
        "isStored(head.header('age')) && !given.isRejected",
        "isStored(head.header('age'))",
      ],
      ['a call that is closed during a pause stays open', 'void this.closing.fail({ plan, decision }, true);', ''],
      ['a step of the clock is not noticed', 'clock.timeOf(date, nowMs, steadyMs)', 'clock.timeOf(date, nowMs)'],
    ],
  ),
  ...of(
    'calls/closing-calls.ts',
    ['create-fetch', 'failures', 'shared-store', 'settle'],
    [
      [
        'a block holds for this process alone',
        'return this.#options.limiter.block(key, retryAfterMs);',
        'return undefined;',
      ],
      ['a call that was not sent counts', 'isUnsent ? limiter', 'false ? limiter'],
      [
        'what a response reports is not shared',
        'limiter.report(decision, { reported, cost, keepOpen })',
        'limiter.settle(decision, { cost })',
      ],
      ['a quota that a response names has no numbers', 'if (others !== undefined) {', 'if (false) {'],
      ['a call that is being read frees its slots', '{ reported, cost, keepOpen }', '{ reported, cost }'],
      ['closing ends before the store knows all', 'this.#pending.add(done);', ''],
      [
        'the numbers of a stream count at its end',
        'if (keepOpen || Object.keys(reported).length > 0)',
        'if (!keepOpen)',
      ],
      ['a stream holds a quota that it does not report', 'keepOpen ? this.#quotaCostOf(plan)', 'keepOpen ? {}'],
    ],
  ),
  ...of(
    'calls/learned-quotas.ts',
    ['create-fetch', 'recorded-responses', 'failures'],
    [
      [
        'calls wait for a quota that nothing reports',
        'learned !== undefined && !learned.names.has(unit) &&',
        'false &&',
      ],
    ],
  ),
  ...of(
    'calls/call-planner.ts',
    ['create-fetch', 'simulation'],
    [
      [
        'calls probe an unreported quota one by one',
        'reported[limit] = { remaining: UNREPORTED_CALLS * largest, resetMs: 0 };',
        ';',
      ],
      ['calls do not wait for the responses of an unreported quota', 'UNREPORTED_CALLS = 4', 'UNREPORTED_CALLS = 1000'],
    ],
  ),
  ...of(
    'calls/costs-of-refill.ts',
    ['simulation', 'learned-costs'],
    [
      ['calls leave nothing to others', 'Math.min(largest, limit * LARGEST_PART)', '0'],
      ['the reserve may be the whole quota', 'Math.min(largest, limit * LARGEST_PART)', 'largest'],
      [
        'no rejection shows a cost',
        'if (!mayHaveRejected(quota, costs, report)) return { reserve };',
        'return { reserve };',
      ],
      ['a server with too much work shows costs', '|| report.isOverload', ''],
      ['a rejection by another unit shows costs', 'if (lacking.length > 0) return', 'if (false) return'],
      ['a cost that is not estimated is corrected', 'estimates.includes(one.unit) ?', 'true ?'],
    ],
  ),
  ...of(
    'reports/read-report.ts',
    ['create-fetch', 'malformed-headers'],
    [
      [
        'a long refill has a higher rate',
        "quota.kind === 'refill' ? Number.MAX_SAFE_INTEGER : maxBlockMs",
        'maxBlockMs',
      ],
    ],
  ),
  ...of(
    'dialects/retry-after.ts',
    ['headers', 'create-fetch', 'recorded-responses'],
    [
      ['a redirection stops calls', 'isLimited || isOverload(response) ?', 'true ?'],
      ['milliseconds are read as seconds', 'Math.ceil(ms) };', 'Math.ceil(ms * 1000) };'],
      ['the comma of a date separates', "NUMBERS.test(header) ? ',' : BETWEEN_DATES", "','"],
      ['a date in the past reports a wait', 'longestMs > 0 ||', 'true ||'],
    ],
  ),
  ...of(
    'headers/times.ts',
    ['headers'],
    [
      ['a date counts by the own clock', 'atMs - serverMs', 'atMs - Date.now()'],
      ['seconds since the epoch are seconds from now', 'number < FIRST_EPOCH_SECOND)', 'number < FIRST_EPOCH_MS)'],
    ],
  ),
  ...of(
    'headers/numbers.ts',
    ['headers', 'recorded-responses'],
    [['minutes are read as milliseconds', 'm: 60_000,', 'm: 1,']],
  ),
  ...of(
    'fetch/read-body.ts',
    ['create-fetch', 'failures'],
    [
      ['a body without an end is waited for', 'cancelTimer = scheduleAfter(MAX_MS, () => copy.cancel(), clock);', ''],
      ['a body of any length is kept', 'if (size > MAX_BYTES) cancel();', ''],
    ],
  ),
  ...of(
    'undici/limited-dispatch.ts',
    ['held-responses', 'undici'],
    [
      [
        'a rejection whose connection breaks is forgotten',
        'if (this.#held === undefined || this.#controller.aborted) this.#fail(error);',
        'if (this.#held !== undefined || this.#controller.aborted) this.#fail(error);',
      ],
      ['an aborted call gets its response', 'if (this.#controller.aborted) throw this.#controller.reason;', ''],
      ['the numbers of another server count', 'this.#origin !== this.request.url.origin', 'false'],
      ['a failed call passes on what has waited', 'this.#controller.dropEvents();', ''],
      ['a call that was sent counts as unsent', '    this.#isSent ||= !this.#controller.aborted;\n', ''],
      [
        'a call that is aborted before it is sent counts',
        'this.#isSent ||= !this.#controller.aborted;',
        'this.#isSent = true;',
      ],
      [
        'a call that was not sent counts',
        'this.calls.closing.fail(this.#call, !this.#isSent)',
        'this.calls.closing.fail(this.#call, false)',
      ],
      ['the redirections of an attempt are lost', 'Object.assign(this.#context, context);', ''],
      [
        'a stream that is not sent stays open',
        'if (this.#call === undefined) cancelBody(this.dispatched.body, error);',
        '',
      ],
    ],
  ),
  ...of(
    'undici/call-of-dispatch.ts',
    ['undici'],
    [
      ['the functions of the options do not see the query', 'if (query) url.search = stringify(query);', ''],
      ['changed headers are sent', 'return copyOfRecord(headers);', 'return headers;'],
      ['changed values are sent', '(value.map(copyOfLists) as Value)', 'value'],
      ['the values of a record are not copied', '[name, copyOfLists(value)]', '[name, value]'],
      [
        'pairs are not copied',
        'Array.from(headers as Iterable<[string, string]>, copyOfLists)',
        'Array.from(headers as Iterable<[string, string]>)',
      ],
      [
        'an iterator is sent once',
        'const pairs = Array.from(headers as Iterable<[string, string]>, copyOfLists);',
        'const pairs = headers as unknown as [string, string][];',
      ],
    ],
  ),
  ...of(
    'undici/call-controller.ts',
    ['held-responses'],
    [
      ['a held response ignores a pause', 'while (!this.#isPaused && ', 'while ('],
      ['an abort during an event is ignored', ' && !this.aborted', ''],
      [
        'an abort during the last event before a part is not reported',
        'if (this.aborted && ',
        'if (this.#isPassing && ',
      ],
      ['an abort during a pause is not reported', 'if (this.#events.length > 0) this.#fail(reason);', ''],
      ['a handler that throws after a pause hangs', '      this.#fail(error as Error);\n', ''],
      ['a resumed response stays where it is', '      this.#passEvents();\n    } catch', '    } catch'],
    ],
  ),
  ...of(
    'undici/held-response.ts',
    ['held-responses'],
    [
      [
        'a byte order mark makes a body unreadable',
        'new TextDecoder().decode(this.#decoded())',
        'this.#decoded().toString()',
      ],
    ],
  ),
];
