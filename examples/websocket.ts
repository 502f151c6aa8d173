// A WebSocket server that limits the open connections of each client, new connections, and messages.
//   npm run example websocket.ts
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Duplex, finished } from 'node:stream';
import { concurrency, type Decision, RateLimiter } from '@rollgate/core';
import { createClientKey } from '@rollgate/http';
import { type WebSocket, WebSocketServer } from 'ws';

const { PORT = '3000' } = process.env;

// To share the limits between processes, pass a RedisStore and `onStoreError: 'fallback'`. The slots of a process that dies
// are then free after one lease.
const connections = new RateLimiter({
  limits: {
    opened: '20/1m',
    open: concurrency({ limit: 2 }),
    openOfAll: concurrency({ limit: 1000 }),
  },
  prefix: 'connections',
});
const messages = new RateLimiter({ limit: 5, window: '10s', prefix: 'messages' });

const clientKey = createClientKey(56);
const server = createServer((_request, response) => response.writeHead(426).end('Connect with a WebSocket\n'));
const webSockets = new WebSocketServer({ noServer: true, maxPayload: 64 * 1024 });

server.on('upgrade', async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
  socket.on('error', () => socket.destroy());
  const { remoteAddress } = request.socket;
  if (remoteAddress === undefined) {
    socket.destroy(); // The client has already disconnected.
    return;
  }
  const client = clientKey(remoteAddress);
  const decision = await connections.check({ opened: client, open: client, openOfAll: 'all' });
  if (!decision.allowed) {
    reject(socket, decision);
    return;
  }
  // Runs when the connection has ended for any reason, even if it ended during the check or fails the handshake.
  finished(socket, () => connections.release(decision));
  webSockets.handleUpgrade(request, socket, head, (webSocket) => serve(webSocket, client));
});

function reject(socket: Duplex, { retryAfterMs, violated }: Decision): void {
  const retryAfter = `Retry-After: ${Math.ceil(retryAfterMs / 1000)}`;
  const body = `Too many connections: ${violated.join(', ')}\n`;
  const head = ['HTTP/1.1 429 Too Many Requests', retryAfter, `Content-Length: ${body.length}`, 'Connection: close'];
  socket.once('finish', () => socket.destroy()); // A client may never close its half of the connection.
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Connections that have responded to the last ping. */
const alive = new WeakSet<WebSocket>();

/** Echoes the messages of a client. All of its connections share one limit of messages. */
function serve(webSocket: WebSocket, client: string): void {
  alive.add(webSocket);
  webSocket.on('pong', () => alive.add(webSocket));
  webSocket.on('error', () => {}); // The connection closes after it.
  webSocket.on('message', async (data) => {
    const { allowed, remaining, retryAfterMs } = await messages.check(client);
    webSocket.send(JSON.stringify(allowed ? { echo: String(data), remaining } : { error: 'Slow down', retryAfterMs }));
  });
}

// A client whose network has failed never closes its connection, and its slot would stay taken.
setInterval(() => {
  for (const webSocket of webSockets.clients) {
    if (!alive.delete(webSocket)) webSocket.terminate();
    else webSocket.ping();
  }
}, 30_000);

server.listen(Number(PORT), '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(`
Rollgate behind ws, on ${url}. Each client has 2 open connections and sends 5 messages in any 10 seconds.

  npx wscat -c ${url.replace('http', 'ws')}     connects; each line that you type is a message
  curl -i ${url} -H 'Connection: Upgrade' -H 'Upgrade: websocket'
                                             shows the rejection while two of these connections are open

Ctrl-C stops the server.`);
});
