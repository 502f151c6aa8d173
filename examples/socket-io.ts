// A Socket.IO server that limits open connections and messages.   npm run example socket-io.ts
import { createServer } from 'node:http';
import { concurrency, createClientKey, RateLimiter } from '@rollgate/node';
import { Server, type Socket } from 'socket.io';

const toKey = createClientKey(56); // A household usually has a whole /56 network of IPv6 addresses.
const connections = new RateLimiter({ limits: concurrency({ limit: 5 }), prefix: 'connections' });
const messages = new RateLimiter({ limit: 10, window: '10s', prefix: 'messages' });

/** Returns the client's key, from the address of its connection. */
const clientOf = (socket: Socket): string => toKey(socket.handshake.address);

const httpServer = createServer();
const io = new Server(httpServer);

io.use(async (socket, next) => {
  const decision = await connections.check(clientOf(socket));
  if (!decision.allowed) return next(new Error('Too many connections'));
  // Keeps the slot until the transport closes, because a client can leave a namespace and stay connected.
  socket.conn.once('close', () => connections.release(decision));
  // The client may have disconnected during the check.
  if (socket.conn.readyState !== 'open') await connections.release(decision);
  return next();
});

io.on('connection', (socket) => {
  socket.use(async ([, ...args], next) => {
    const { allowed, retryAfterMs } = await messages.check(clientOf(socket));
    if (allowed) return next();
    const acknowledge = args.at(-1); // Socket.IO passes the client's callback last.
    if (typeof acknowledge === 'function') acknowledge({ error: 'RATE_LIMIT_EXCEEDED', retryAfterMs });
  });
  socket.on('message', (text: string, acknowledge?: (reply: object) => void) => {
    socket.broadcast.emit('message', text);
    acknowledge?.({ ok: true });
  });
});

httpServer.listen(Number(process.env.PORT ?? 3000));

httpServer.on('listening', () => {
  const { port } = httpServer.address() as { port: number };
  console.log(`
Rollgate in Socket.IO, on http://127.0.0.1:${port}: 5 open connections per client, and 10 messages in any 10 seconds.

Ctrl-C stops the server.`);
});
