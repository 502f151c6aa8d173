import { type Case, send, statuses } from './case.js';

/** What browsers accept when they open a page. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8';

/** What a rejected client gets. */
export const rejections: Readonly<Record<string, Case>> = {
  async 'a rejection has a status, headers and a body that programs can read'(host) {
    await statuses(host, 'window', 2);
    const { status, headers, body } = await send(host, 'window');
    expect(status).toBe(429);
    expect(headers).toMatchObject({ 'x-ratelimit-remaining': '0', 'cache-control': 'no-store' });
    expect(Number(headers['retry-after'])).toBeGreaterThan(3500);
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(JSON.parse(body)).toMatchObject({
      statusCode: 429,
      code: 'RATE_LIMIT_EXCEEDED',
      error: 'Too Many Requests',
      message: expect.stringMatching(/^Rate limit exceeded: try again in \d+ seconds$/),
    });
  },
  async 'the headers and the status are configurable'(host) {
    const allowed = await send(host, 'silent');
    expect(Object.keys(allowed.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    const rejected = await send(host, 'silent');
    expect(rejected.status).toBe(503);
    expect(rejected.headers).toHaveProperty('retry-after');
    expect(rejected.headers).not.toHaveProperty('x-ratelimit-limit');
  },
  async 'a rejection may contain problem details'(host) {
    await send(host, 'problem');
    const { status, headers, body } = await send(host, 'problem');
    expect(status).toBe(429);
    expect(headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(JSON.parse(body)).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      status: 429,
      'violated-policies': ['default'],
    });
  },
  async 'a message that is a string is the body of a rejection'(host) {
    await send(host, 'text');
    for (const accept of ['*/*', 'application/json', BROWSER]) {
      const { status, headers, body } = await send(host, 'text', { headers: { accept } });
      expect([status, headers['content-type'], body]).toEqual([429, 'text/plain; charset=utf-8', 'Slow down']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(3500);
    }
  },
  async 'a message in several formats is negotiated'(host) {
    await send(host, 'formats');
    for (const [accept, type, expected] of [
      ['*/*', 'application/json; charset=utf-8', '{"slow":"down"}'],
      ['text/*;q=0.5, application/json', 'application/json; charset=utf-8', '{"slow":"down"}'],
      ['text/plain', 'text/plain; charset=utf-8', 'Slow down'],
      [BROWSER, 'text/html; charset=utf-8', '<p>Slow down</p>'],
    ]) {
      const { status, headers, body } = await send(host, 'formats', { headers: { accept: accept! } });
      expect([status, headers['content-type'], body]).toEqual([429, type, expected]);
      expect(headers['cache-control']).toBe('no-store');
    }
  },
  async 'a page for browsers leaves other clients the default body'(host) {
    await send(host, 'page');
    const page = await send(host, 'page', { headers: { accept: BROWSER } });
    expect([page.status, page.headers['content-type'], page.body]).toEqual([
      429,
      'text/html; charset=utf-8',
      '<p>Später</p>',
    ]);
    const head = await send(host, 'page', { method: 'HEAD', headers: { accept: BROWSER } });
    expect([head.status, head.headers['content-type'], head.body]).toEqual([429, 'text/html; charset=utf-8', '']);
    const { headers, body } = await send(host, 'page');
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(JSON.parse(body)).toMatchObject({ statusCode: 429, code: 'RATE_LIMIT_EXCEEDED' });
  },
  async 'the status of a rejection may depend on the decision'(host) {
    const costing = async (cost: number) => {
      const { status, body } = await send(host, 'status', { headers: { 'x-cost': String(cost) } });
      return [status, status === 200 ? body : JSON.parse(body).error];
    };
    expect(await costing(2)).toEqual([200, 'hello']);
    expect(await costing(1)).toEqual([503, 'Service Unavailable']);
    expect(await costing(3)).toEqual([413, 'Payload Too Large']);
  },
  async 'a message that is an object is the body of a rejection'(host) {
    await send(host, 'object');
    const { status, body } = await send(host, 'object');
    expect([status, JSON.parse(body)]).toEqual([429, { oh: 'no' }]);
  },
  async 'a message that is an error is a rejection for the error handler of the host'(host) {
    await send(host, 'error-message');
    const { status, headers, body } = await send(host, 'error-message');
    expect(status).toBe(429);
    expect(headers).toMatchObject({ 'x-ratelimit-remaining': '0', 'cache-control': 'no-store' });
    expect(Number(headers['retry-after'])).toBeGreaterThan(3500);
    expect(body).toContain('Used up');
  },
  async 'a rejection is plain text for clients that prefer it'(host) {
    await statuses(host, 'window', 2);
    const plain = await send(host, 'window', { headers: { accept: 'text/plain' } });
    expect(plain.headers['content-type']).toMatch(/^text\/plain/);
    expect(plain.body).toMatch(/^Rate limit exceeded: try again in \d+ seconds\n$/);
  },
  async 'a rejected request ends a response that other code has started'(host) {
    for (let turn = 0; turn < 2; turn++) {
      const { status, body } = await host.client.open('/started', {
        headers: { 'x-client': host.id, 'x-behavior': turn === 0 ? 'hello' : 'endless' },
      }).reply;
      expect(status).toBe(200);
      expect(body).toMatch(/^hel/);
    }
  },
};
