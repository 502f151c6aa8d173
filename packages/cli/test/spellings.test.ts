import { rollgate, simulate, suggest, write } from './support/rollgate';

/** The clients of the generated logs: six requests, one per second. */
const CLIENTS = ['198.51.100.7', '198.51.100.7', '198.51.100.7', '203.0.113.9', '203.0.113.9', '192.0.2.4'];
const COUNTS = { '198.51.100.7': 3, '203.0.113.9': 2, '192.0.2.4': 1 };
const FORWARDED = ['--by', 'forwarded'];
const TIME = '[01/Nov/2025:00:00:0# +0000]';
const REST = `${TIME} "GET /p HTTP/1.1" 200 5`;

/** Writes a line for each request, in which `IP` is the client and `#` the second. */
function writeLog(template: string, header = ''): void {
  const lines = CLIENTS.map((ip, second) =>
    template.replace(/(?:\b|(?<=39m))IP\b/g, ip).replaceAll('#', String(second)),
  );
  write('log', `${header}${lines.join('\n')}\n`);
}

async function callers(args: readonly string[]): Promise<{ counts: Record<string, number>; from: string; to: string }> {
  const { worstHit, from, to, log } = await simulate(['log', '--limit', '1/1d', ...args]);
  const { callers: all } = await simulate(['log', '--limit', '1000/1d', ...args]);
  const counts = Object.fromEntries(worstHit.map(({ key, requests }) => [key, requests]));
  expect({ all, unparsed: log.unparsedLines }).toEqual({ all: 3, unparsed: 0 });
  return { counts: { ...counts, '192.0.2.4': 1 }, from, to };
}

describe('the client is found', () => {
  const json = (fields: string) => `{"time":"2025-11-01T00:00:0#Z",${fields}}`;

  test.each<readonly [string, readonly string[]]>([
    // Lists in named fields.
    [json('"remote_addr":"IP,10.0.0.#","uri":"/p"'), []],
    [json('"remote_addr":"IP, 10.0.0.#"'), ['--by', 'ip', '--key-field', 'remote_addr']],
    [json('"ClientAddr":"172.18.0.1:5000","ClientHost":"IP,10.1.1.#"'), []],
    [json('"remote_addr":"[\\"IP\\", \\"10.0.0.#\\"]"'), []],
    ['time=2025-11-01T00:00:0#Z ip="IP, 10.0.0.#" msg=x', []],
    ['time:2025-11-01T00:00:0#Z\thost:IP,10.0.0.#', []],
    // Punctuation.
    [`"IP" - - ${REST}`, []],
    [`"IP, 10.0.0.#" - - ${REST}`, []],
    [`(IP) - - ${REST}`, []],
    [`IP,10.0.0.# - - ${REST}`, []],
    [`shop.example "IP" - - ${REST}`, []],
    [`[IP] - - ${REST}`, []],
    [`10.0.2.1 (IP, 10.9.9.1) - - ${REST}`, FORWARDED],
    [`10.0.2.1 "IP, 10.9.9.1" - - ${REST}`, FORWARDED],
    [`10.0.2.1 {IP, 10.9.9.#} - - ${REST}`, FORWARDED],
    [`{IP} - - ${REST}`, []],
    [`IP , 10.9.9.# - - ${REST}`, []],
    [`"IP", "10.9.9.#" - - ${REST}`, []],
    [`10.0.2.1 xff="IP, 10.9.9.#" - - ${REST}`, FORWARDED],
    [`client=IP - - ${REST} "-" "ua"`, []],
    [`127.0.0.1 IP, 10.9.9.1 - ${REST}`, FORWARDED],
    // Empty keys.
    [`-/IP ${REST} "-" "ua"`, []],
    [`"IP" ${REST}`, []],
    // Lists that contradict a public peer.
    [`IP - - ${REST} "-" "ua" "10.1.2.3"`, FORWARDED],
    [`IP - - ${REST} "-" "ua" "192.168.0.#, 10.0.0.5"`, FORWARDED],
    [`10.0.2.1 IP - - ${REST}`, FORWARDED],
    [`10.0.2.1 IP - - ${REST}`, []],
    [json('"remote_addr":"IP","http_x_forwarded_for":"10.0.0.#"'), FORWARDED],
    [json('"remote_addr":"10.0.0.1","forwarded":"for=IP;proto=https, for=\\"[fd00::#]:80\\""'), FORWARDED],
    [json('"remote_addr":"IP","http_x_forwarded_for":"no address #"'), FORWARDED],
    // What a client chooses is no list.
    [`IP - - ${REST} "-" "9.9.9.#"`, FORWARDED],
    [`10.0.2.1 - - ${REST} "9.9.9.#" "9.9.9.#\\" \\"9.9.9.9" "IP"`, FORWARDED],
    // What follows the list is another list.
    [`10.0.2.1 - - ${REST} "-" "ua" "IP, 10.9.9.1" "10.1.1.#:80" "0.003"`, FORWARDED],
    [`10.0.2.1 - - ${REST} "-" "ua" xff="IP, 10.9.9.1" upstream="10.1.1.#:80"`, FORWARDED],
    // Headers that name the client alone.
    [json('"remote_addr":"10.0.0.1","http_x_real_ip":"IP"'), FORWARDED],
    [json('"remote_addr":"10.0.0.1","cf_connecting_ip":"IP"'), FORWARDED],
    [json('"remote_addr":"IP","true_client_ip":"9.9.9.#"'), FORWARDED],
    [json('"ClientHost":"10.0.0.1","request_Forwarded":"for=IP;proto=https"'), FORWARDED],
    // HAProxy's captures.
    [
      `10.0.0.1:5 ${TIME.slice(0, 21)}.294] fe~ be/web1 0/0/2/3/6 200 63 - - ---- 6/1/0/0/0 0/0 {IP, 10.4.4.9} "GET /p H"`,
      FORWARDED,
    ],
    [
      `10.0.0.1:5 ${TIME.slice(0, 21)}.294] fe~ be/web1 0/0/2/3/6 200 63 - - ---- 6/1/0/0/0 0/0 {ua/1|IP} {} "GET /p H"`,
      FORWARDED,
    ],
    // Names of fields.
    ...[
      'request.remote_addr',
      'remoteAddr',
      'remoteIP',
      'RemoteAddr',
      'ClientIp',
      'real_ip',
      'x_real_ip',
      'user_ip',
    ].map((name) => [json(`"${name}":"IP:5000"`), []] as const),
    ...['callerIpAddress', 'clientIPAddress', 'ip_addr', 'requestIp', 'labels.client_ip'].map(
      (name) => [json(`"${name}":"IP"`), []] as const,
    ),
    ...['http_x_real_ip', 'cf_connecting_ip', 'source_ip', 'remote_address', 'request.ip', 'client.address'].map(
      (name) => [json(`"${name}":"IP"`), []] as const,
    ),
    [json('"request":{"remote_addr":"IP:5000"}'), []],
    [json('"meta":{"req":{"ip":"IP"}}'), []],
    [json('"attributes":{"client.address":"IP"}'), []],
    [json('"jsonPayload":{"req":{"remoteAddress":"IP"}}'), []],
    [json('"protoPayload":{"requestMetadata":{"callerIp":"IP"}}'), []],
    ['{"result":{"_raw":"{\\"time\\":\\"2025-11-01T00:00:0#Z\\",\\"ip\\":\\"IP\\"}"}}', []],
    [json(`"Body":${JSON.stringify(`IP - - ${REST}`)}`), []],
    [json(`"event":{"original":${JSON.stringify(`IP - - ${REST}`)}}`), []],
    [json('"properties":"{\\"clientIP\\":\\"IP\\"}"'), []],
    [json('"REMOTE-addr":"IP"'), ['--by', 'remote_addr']],
    // Collectors.
    [`\u001b[32m0|api | \u001b[39mIP - - ${REST}`, []],
    [
      `\u001b[2m2025-11-01T00:00:0#Z\u001b[0m app[3d] \u001b[32mams\u001b[0m [\u001b[34minfo\u001b[0m]IP - - ${REST}`,
      [],
    ],
    ['2025-11-01T00:00:0#: {"ip":"IP"}', []],
    ['\u001b[32m{"time":"2025-11-01T00:00:0#Z","ip":"IP"}\u001b[0m', []],
    [`2025-11-01T00:00:0#.000Z\t3f1c-9a\tINFO\tIP - - ${REST}`, []],
    ['web-1 app {"time":"2025-11-01T00:00:0#Z","ip":"IP"}', []],
    // Fields between the time and the request.
    [`IP - - ${TIME} 24891 "GET /p HTTP/1.1" 200 5`, []],
    [`IP - - ${TIME} "localhost" "GET /p HTTP/1.1" 200 5`, []],
  ])('in %s with %j', async (template, args) => {
    writeLog(template);
    expect((await callers(args)).counts).toEqual(COUNTS);
  });

  test.each(['IP,+10.0.0.1', 'IP:4321,+172.16.0.1:497#', 'IP,%2010.0.0.1', 'IP%2C%252010.0.0.1', '"IP, 10.0.0.1"'])(
    'in %s of a W3C log',
    async (list) => {
      const header = '#Fields: date time s-ip cs-method cs-uri-stem c-ip sc-status X-Forwarded-For\n';
      writeLog(`2025-11-01 00:00:0# 10.0.0.1 GET /p 10.0.0.9 200 ${list}`, header);
      expect((await callers(FORWARDED)).counts).toEqual(COUNTS);
      writeLog(
        `2025-11-01 00:00:0# 10.0.0.1 GET /p 10.0.0.9 200 ${list}`,
        header.replace('X-F', 'cs(X-F').replace('or\n', 'or)\n'),
      );
      expect((await callers(FORWARDED)).counts).toEqual(COUNTS);
    },
  );
});

test.each([
  'Sat, 01 Nov 2025 00:00:0# GMT',
  'Saturday, 01-Nov-25 00:00:0# GMT',
  '[01/Nov/2025:00:00:0# +0000]',
  'Sat Nov  1 00:00:0# 2025',
  'Sat Nov 1 00:00:0# UTC 2025',
  'Sat Nov 01 2025 01:00:0# GMT+0100 (Central European Standard Time)',
  'Nov 1, 2025 @ 00:00:0#.000',
  '2025-11-01 00:00:0#:000',
  '2025/11/01 - 00:00:0#',
  '2025-11-01 00:00:0#.000000 +0000 UTC m=+0.001',
  '2025-11-01 02:00:0# +0200 CEST',
  '20251101T00000#Z',
  '2025110100000#',
  ' 2025-11-01T00:00:0#Z',
  '11/1/2025, 12:00:0# AM',
  '/Date(176195520#000)/',
  '2025-11-01T01:00:0#+01:00[Europe/Berlin]',
  '2025-11-01T00:00:0#Z[UTC]',
  '2025-11-01 02:00:0# GMT+2',
  'Sat, 1 Nov 2025 00:00:0# UT',
  'Sat Nov  1 00:00:0# Z 2025',
  '20251101 00:00:0#',
  '20251101T00:00:0#.000Z',
  '2025-11-01_00:00:0#',
  '11/1/2025 2:00:0#.000 AM +02:00',
])('the time %s is read from JSON, and by a pattern', async (time) => {
  writeLog(`{"time":"${time}","ip":"IP"}`);
  const expected = { counts: COUNTS, from: '2025-11-01T00:00:00.000Z', to: '2025-11-01T00:00:05.000Z' };
  expect(await callers([])).toEqual(expected);
  writeLog(`at <${time}> from IP`);
  expect(await callers(['--pattern', '^at <(?<time>.*)> from (?<key>.*)$'])).toEqual(expected);
});

test.each([
  '{"$date":"2025-11-01T00:00:0#Z"}',
  '{"$date":{"$numberLong":"176195520#000"}}',
  '{"epochSecond":176195520#,"nanoOfSecond":0}',
])('the time %s is read from JSON', async (time) => {
  writeLog(`{"time":${time},"ip":"IP"}`);
  expect((await callers([])).from).toBe('2025-11-01T00:00:00.000Z');
});

test.each([
  'started_at',
  'timeStamp',
  'TimeGenerated',
  'Timestamp',
  'asctime',
  'log_time',
  'timestamp_ms',
  'created_at',
  'occurred_at',
  'timeMillis',
  'log_date',
  'instant',
])('the time is found in %s, and not in a duration', async (name) => {
  writeLog(`{"request_time":0.005,"${name}":"2025-11-01T00:00:0#Z","ip":"IP"}`);
  expect((await callers([])).from).toBe('2025-11-01T00:00:00.000Z');
});

test('the time of morgan is read from text', async () => {
  writeLog('IP - - [Sat, 01 Nov 2025 00:00:0# GMT] "GET /p HTTP/1.1" 200 5');
  expect((await callers([])).counts).toEqual(COUNTS);
});

test('a time with the name of another zone, or in an ambiguous order, is not read', async () => {
  for (const time of [
    '2025-11-01 00:00:00 EST',
    '11/01/2025 00:00:00',
    'Nov 1 00:00:00',
    '2025-11-01T00:00:00[Europe/Berlin]',
  ]) {
    write('log', `{"time":"${time}","ip":"192.0.2.4"}\n`);
    const { code, stderr } = await rollgate(['simulate', 'log', '--limit', '1/1m']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('its time is neither')]);
  }
});

test('a forged header of a client is not its address', async () => {
  writeLog(
    '{"ts":176195520#,"request":{"remote_ip":"IP","method":"GET","uri":"/","headers":{"Ip":["9.9.9.#"],"Client-Ip":["9.9.9.#"]}}}',
  );
  expect((await callers([])).counts).toEqual(COUNTS);
});

test('lines with an address that are no requests do not count', async () => {
  writeLog(
    '{"ts":176195520#.5,"request":{"remote_ip":"IP","method":"GET","uri":"/p"}}',
    '{"ts":1761955200.1,"msg":"admin endpoint started","address":"localhost:2019"}\n',
  );
  const { requests, log } = await simulate(['log', '--limit', '1/1d']);
  expect([requests, log.withoutKeyLines]).toEqual([6, 1]);
});

test('warnings and errors name the option that helps', async () => {
  writeLog('{"time":"2025-11-01T00:00:0#Z","partner":"IP:5000"}');
  const by = await simulate(['log', '--limit', '1/1d', '--by', 'partner']);
  expect(by.warnings).toEqual(['Most callers are addresses with a port. Use --by ip --key-field partner']);
  expect((await rollgate(['simulate', 'log', '--limit', '1/1d'])).stderr).toContain('`--key-field`');
  writeLog('{"zeit":"2025-11-01T00:00:0#Z","ip":"IP"}');
  expect((await rollgate(['simulate', 'log', '--limit', '1/1d'])).stderr).toContain('`--time-field`');
  writeLog(`IP - - ${REST} "-" "ua" "10.1.2.3"`);
  const { warnings } = await simulate(['log', '--limit', '1/1d', ...FORWARDED]);
  expect(warnings).toEqual([
    expect.stringMatching(/^100% of the forwarded lists were ignored.*see --trusted-proxies$/),
  ]);
});

describe('a part of the log', () => {
  const lines = (template: string) =>
    ['GET /login', 'POST /login?next=1', 'POST /api/items', 'POST /login', 'GET /api', 'POST /login'].map(
      (request, index) => {
        const [method, path] = request.split(' ');
        return template
          .replace('METHOD', method!)
          .replace('PATH', path!)
          .replace(/\bIP\b/, CLIENTS[index]!)
          .replace('#', String(index));
      },
    );

  test.each([
    `IP - - ${TIME} "METHOD PATH HTTP/1.1" 200 5`,
    '{"time":"2025-11-01T00:00:0#Z","ip":"IP","method":"METHOD","url":"https://example.com/PATH"}'.replace(
      '/PATH',
      'PATH',
    ),
    '{"time":"2025-11-01T00:00:0#Z","ip":"IP","request":"METHOD PATH HTTP/1.1","status":200}',
  ])('is selected by path and method, and without callers: %s', async (template) => {
    write('log', lines(template).join('\n'));
    const count = async (...args: string[]) => (await simulate(['log', '--limit', '1/1d', ...args])).requests;
    expect(await count('--path', '/login')).toBe(4);
    expect(await count('--path', '/login', '--method', 'post')).toBe(3);
    expect(await count('--path', '/api*,/other')).toBe(2);
    expect(await count('--exclude', '198.51.100.7')).toBe(3);
    expect(await count('--exclude', '198.51.100.0/24', '--exclude', '192.0.2.4')).toBe(2);
    const { log } = await simulate(['log', '--limit', '1/1d', '--exclude', '192.0.2.4']);
    expect(log.filteredLines).toBe(1);
    const none = await rollgate(['simulate', 'log', '--limit', '1/1d', '--path', '/nothing']);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('passes --exclude, --path and --method')]);
  });
});

test('suggest prints the limit without its heaviest caller, too', async () => {
  const line = (ip: string, ms: number) => `{"time":${1761955200000 + ms},"ip":"${ip}"}`;
  const abuser = Array.from({ length: 1000 }, (_, ms) => line('192.0.2.66', ms));
  const others = Array.from({ length: 200 }, (_, index) => line(`198.51.100.${index}`, 2000 + index));
  write('log', [...abuser, ...others].join('\n'));
  const { stdout } = await rollgate(['suggest', 'log', '--reject', '1%']);
  expect(stdout).toContain("  rateLimit({ limit: 988, window: '1m' })\n");
  expect(stdout).toContain(
    'The heaviest caller is 192.0.2.66, with up to 1,000 in 1m. Chosen for the other callers, 1/1m would have rejected 999',
  );
  expect(stdout).toContain("  rateLimit({ limit: 1, window: '1m' })\n");
  const { windows } = await suggest(['log', '--reject', '1%']);
  expect(windows[0]!.heaviest).toMatchObject({ limitWithoutIt: 1, withoutIt: { limit: 1, rejectedRequests: 999 } });
});
