// A GraphQL Yoga server with a plugin that limits operations by their fields.   npm run example graphql-yoga.ts
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClientKey, RateLimiter, rollingWindow } from '@rollgate/node';
import { type DocumentNode, GraphQLError, visit } from 'graphql';
import { createSchema, createYoga, type Plugin } from 'graphql-yoga';

const toKey = createClientKey(56); // One client has many IPv6 addresses.
const limiter = new RateLimiter({ limits: rollingWindow({ limit: 20, window: '1m' }) });

/** Counts the fields of an operation, so a client does not evade the limit by aliases. */
function countFields(document: DocumentNode): number {
  let fields = 0;
  visit(document, {
    Field() {
      fields += 1;
    },
  });
  return fields;
}

const useRateLimit: Plugin<{ req: IncomingMessage }> = {
  async onExecute({ args, setResultAndStopExecution }) {
    const client = toKey(args.contextValue.req.socket.remoteAddress ?? '');
    const { allowed, retryAfterMs } = await limiter.check(client, { cost: countFields(args.document) });
    if (allowed) return;
    // An operation with more fields than the limit is never allowed. Its wait is infinite.
    const headers = Number.isFinite(retryAfterMs) ? { 'Retry-After': String(Math.ceil(retryAfterMs / 1000)) } : {};
    const extensions = { code: 'RATE_LIMIT_EXCEEDED', retryAfterMs, http: { status: 429, headers } };
    setResultAndStopExecution({ errors: [new GraphQLError('Rate limit exceeded', { extensions })] });
  },
};

const yoga = createYoga({
  schema: createSchema({
    typeDefs: 'type Query { book(title: String!): String! }',
    resolvers: { Query: { book: (_source, { title }) => title } },
  }),
  plugins: [useRateLimit],
});

const server = createServer(yoga);
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  console.log(`
Rollgate in GraphQL Yoga, on ${url}: 20 fields per client in any minute.

  curl -i '${url}?query=\\{a:book(title:"A")b:book(title:"B")\\}'

Ctrl-C stops the server.`);
});
