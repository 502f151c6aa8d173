import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Library } from '../library.js';
import { createTimed, type Probe } from '../probe.js';

const REQUESTS = 10;
const RULE = { limit: 5, windowMs: 60_000 };

export const requestsAtOnce: Probe = {
  title: 'allowed out of 10 at once, limit 5',
  method:
    'Sends ten requests in one packet to a server on the same machine, as a script can but a browser does not. For a library without middleware, starts ten checks at once. Five should be allowed. Libraries that allow none keep one counter object per client. All ten requests increment it before any of them compares it with the limit, so all ten are rejected.',
  async run(library) {
    const allowed =
      library.serve === undefined ? await callAtOnce(library) : await sendAtOnce(await library.serve(RULE));
    return allowed === undefined ? undefined : { value: allowed, text: String(allowed) };
  },
};

async function sendAtOnce(server: Server): Promise<number> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const request = (connection: string) => `GET / HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\n\r\n`;
  socket.write(request('keep-alive').repeat(REQUESTS - 1) + request('close'));
  const responses = await text(socket);
  return responses.match(/HTTP\/1\.1 200/g)?.length ?? 0;
}

async function callAtOnce(library: Library): Promise<number | undefined> {
  const timed = await createTimed(library, RULE);
  if (timed === undefined) return undefined;
  const outcomes = await Promise.all(Array.from({ length: REQUESTS }, () => timed.limiter.check('192.0.2.1')));
  return outcomes.filter(({ allowed }) => allowed).length;
}
