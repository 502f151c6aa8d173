import { type FaultyRequest, type Random, type Received, sendText } from './faulty-client.js';

const HANDSHAKE = [
  'GET / HTTP/1.1',
  'host: host',
  'connection: upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
  '\r\n',
].join('\r\n');
/** The bits of the last frame of a text, and of a frame with a mask. */
const [FINAL_TEXT, MASKED] = [0x81, 0x80];
/** The length that announces another one in the next two bytes, and the length of such a head. */
const [LONG, LONG_HEAD, SHORT_HEAD] = [126, 4, 2];

/** Sends each request as a message to a gateway of NestJS, at once with the handshake and all others. */
export async function sendWebSocket(
  port: number,
  requests: readonly FaultyRequest[],
  random: Random,
): Promise<Received> {
  const frames = requests.map(({ path, headers, bodyLength }) =>
    toFrame(JSON.stringify({ event: path.slice(1), data: { ...headers, body: 'x'.repeat(bodyLength) } })),
  );
  // The connection stays open, because the gateway does not respond to what it has received before the client closed it.
  const { received } = await sendText(port, HANDSHAKE + frames.join(''), true, random);
  const statuses = readFrames(received.slice(received.indexOf('\r\n\r\n') + LONG_HEAD)).map(toStatus);
  return { statuses, isWhole: statuses.length === requests.length };
}

/** With a mask of zeros, which changes nothing. */
function toFrame(text: string): string {
  const { length } = text;
  const head = length < LONG ? [MASKED + length] : [MASKED + LONG, length >> 8, length & 0xff];
  return String.fromCharCode(FINAL_TEXT, ...head, 0, 0, 0, 0) + text;
}

/** The texts of all frames that are whole. */
function readFrames(received: string): string[] {
  const texts: string[] = [];
  for (let start = 0; start + LONG_HEAD <= received.length; ) {
    const [, short, high, low] = Array.from({ length: LONG_HEAD }, (_, index) => received.charCodeAt(start + index));
    const length = short === LONG ? high! * 256 + low! : short!;
    const from = start + (short === LONG ? LONG_HEAD : SHORT_HEAD);
    start = from + length;
    if (start <= received.length) texts.push(received.slice(from, start));
  }
  return texts;
}

function toStatus(text: string): number {
  if (JSON.parse(text).event !== 'exception') return 200;
  return text.includes('"RATE_LIMIT_EXCEEDED"') ? 429 : 500;
}
