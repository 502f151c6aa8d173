import { connect as connectHttp2, constants } from 'node:http2';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Returns numbers from 0 to 1. */
export type Random = () => number;

/** A request of a client that may be slow or may leave. */
export interface FaultyRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The length of the body to upload; 0 for a request without one. */
  readonly bodyLength: number;
  /** Whether the response ends only when the client leaves. */
  readonly isEndless: boolean;
}

/** What a client has received over one connection. */
export interface Received {
  readonly statuses: readonly number[];
  /** Whether the server has ended the connection, or all streams, after the last response. */
  readonly isWhole: boolean;
}

const HOW = ['as usual', 'in parts', 'read late', 'leave while sending', 'leave at the first byte'] as const;
/** How long a client reads an endless response. */
const ENDLESS_MS = 20;
const LONGEST_PAUSE_MS = 5;

/** Sends the requests over one connection of HTTP/1.1 without waiting for responses. */
export async function sendHttp1(port: number, requests: readonly FaultyRequest[], random: Random): Promise<Received> {
  const text = requests.map((request, index) => toText(request, index === requests.length - 1)).join('');
  const isEndless = requests.some((request) => request.isEndless);
  const { received, isWhole } = await sendText(port, text, isEndless, random);
  const statuses = Array.from(received.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status));
  // Bun may end the connection in the middle of a stream, if requests follow.
  const last = received.slice(received.lastIndexOf('HTTP/1.1 '));
  const isCut = /\ntransfer-encoding: chunked\r\n/i.test(last) && !last.endsWith('\r\n0\r\n\r\n');
  return { statuses, isWhole: isWhole && !isCut };
}

/**
 * Sends a text of Latin-1 over one connection as a slow or leaving client.
 *
 * @param isEndless Whether the server waits until the client leaves.
 */
export async function sendText(
  port: number,
  text: string,
  isEndless: boolean,
  random: Random,
): Promise<{ readonly received: string; readonly isWhole: boolean }> {
  const how = HOW[Math.floor(random() * HOW.length)]!;
  const leavesBetween = random() < 0.5;
  const parts = split(text, random);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
  let received = '';
  let isWhole = false;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const responded = new Promise((resolve) => socket.once('data', resolve));
  if (how === 'read late') socket.pause();
  socket.setEncoding('latin1').on('data', (chunk) => (received += chunk));
  socket.on('end', () => {
    isWhole = true;
    socket.end();
  });
  const leave = () => (leavesBetween ? socket.destroy() : socket.resetAndDestroy());
  const sent = how === 'leave while sending' ? parts.slice(0, Math.ceil(random() * parts.length)) : parts;
  const isSlow = how === 'in parts' || how === 'leave while sending';
  for (const part of sent) {
    socket.write(part, 'latin1');
    if (isSlow) await delay(random() * LONGEST_PAUSE_MS);
  }
  if (how === 'leave while sending') leave();
  if (how === 'leave at the first byte') await Promise.race([responded, delay(LONGEST_PAUSE_MS)]).then(leave);
  if (how === 'read late') await delay(random() * LONGEST_PAUSE_MS).then(() => socket.resume());
  if (isEndless) await Promise.race([closed, delay(ENDLESS_MS)]).then(leave);
  await closed;
  return { received, isWhole };
}

/** Sends each request over a stream of one session of HTTP/2, and resets some of them. */
export async function sendHttp2(port: number, requests: readonly FaultyRequest[], random: Random): Promise<Received> {
  const session = connectHttp2(`http://127.0.0.1:${port}`).on('error', () => {});
  const statuses: number[] = [];
  let wholeCount = 0;
  const streams = requests.map(async ({ path, headers, bodyLength, isEndless }) => {
    const method = bodyLength > 0 ? 'POST' : 'GET';
    const stream = session.request({ ':path': path, ':method': method, ...headers }, { endStream: bodyLength === 0 });
    const closed = new Promise((resolve) => stream.once('close', resolve));
    stream.on('error', () => {}).on('response', (head) => statuses.push(Number(head[':status'])));
    let hasLeft = false;
    stream.on('end', () => (wholeCount += hasLeft ? 0 : 1)).resume();
    const leavesMs = random() < 0.4 ? random() * LONGEST_PAUSE_MS : ENDLESS_MS;
    const leaves = isEndless || leavesMs < ENDLESS_MS;
    const upload = async () => {
      for (const part of split('x'.repeat(bodyLength), random)) {
        if (!stream.writable) return;
        stream.write(part);
        await delay(random() * LONGEST_PAUSE_MS);
      }
      stream.end();
    };
    if (bodyLength > 0) void upload();
    if (leaves) {
      await Promise.race([closed, delay(leavesMs)]);
      hasLeft = true;
      stream.close(constants.NGHTTP2_CANCEL);
    }
    await closed;
  });
  const endsEarly = random() < 0.2;
  if (endsEarly) setTimeout(() => session.destroy(), random() * LONGEST_PAUSE_MS);
  await Promise.all(streams);
  session.destroy();
  return { statuses, isWhole: !endsEarly && wholeCount === requests.length };
}

/** Cuts a text at up to five random places. */
function split(text: string, random: Random): string[] {
  const places = Array.from({ length: 5 }, () => Math.floor(random() * text.length)).sort((one, other) => one - other);
  const ends = [...places, text.length];
  return ends.map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end)).filter((part) => part !== '');
}

function toText({ path, headers, bodyLength }: FaultyRequest, isLast: boolean): string {
  const all = {
    ...headers,
    host: 'host',
    ...(bodyLength > 0 && { 'content-type': 'text/plain', 'content-length': String(bodyLength) }),
    ...(isLast && { connection: 'close' }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${bodyLength > 0 ? 'POST' : 'GET'} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${'x'.repeat(bodyLength)}`;
}
