// A GraphQL Yoga server with a plugin that limits operations by their
// fields.   npm run example graphql-yoga.ts
import { createServer, type IncomingMessage } from 'node:http';
import { createClientKey, RateLimiter } from '@rollgate/node';
import {
  type DefinitionNode,
  type DocumentNode,
  GraphQLError,
  Kind,
  visit,
} from 'graphql';
import { createSchema, createYoga, type Plugin } from 'graphql-yoga';

// A household usually has a whole /56 network of IPv6 addresses.
const toKey = createClientKey(56);
const limiter = new RateLimiter({ limit: 1000, window: '1m' });

/**
 * Counts the fields that a document selects. A fragment counts each
 * time that the document uses it.
 */
function countFields({ definitions }: DocumentNode): number {
  const fragments = new Map<string, DefinitionNode>();
  for (const node of definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION)
      fragments.set(node.name.value, node);
  // The number of fields of each fragment. Without it, counting would
  // take exponential time if fragments use others several times.
  const counts = new Map<string, number>();

  function countIn(definition: DefinitionNode): number {
    let fields = 0;
    visit(definition, {
      Field() {
        fields += 1;
      },
      FragmentSpread({ name: { value } }) {
        if (!counts.has(value))
          counts.set(value, countIn(fragments.get(value)!));
        fields += counts.get(value)!;
      },
    });
    return fields;
  }

  let fields = 0;
  for (const node of definitions)
    if (node.kind === Kind.OPERATION_DEFINITION)
      fields += countIn(node);
  // Fragments that use others can exceed the largest valid cost.
  return Math.min(fields, Number.MAX_SAFE_INTEGER);
}

const useRateLimit: Plugin<{ req: IncomingMessage }> = {
  async onExecute({ args, setResultAndStopExecution }) {
    // If your users log in, use their IDs instead.
    const client = toKey(
      args.contextValue.req.socket.remoteAddress ?? '',
    );
    const { allowed, retryAfterMs } = await limiter.check(client, {
      cost: countFields(args.document),
    });
    if (allowed) return;
    // With more fields than the limit, the wait is infinite, so
    // `retryAfterMs` is null in the response.
    const headers = Number.isFinite(retryAfterMs)
      ? { 'Retry-After': String(Math.ceil(retryAfterMs / 1000)) }
      : {};
    const extensions = {
      code: 'RATE_LIMIT_EXCEEDED',
      retryAfterMs,
      http: { status: 429, headers },
    };
    setResultAndStopExecution({
      errors: [new GraphQLError('Rate limit exceeded', { extensions })],
    });
  },
};

const yoga = createYoga({
  schema: createSchema({
    typeDefs: `
      type Query { book(title: String!): Book! }
      type Book { title: String!, pages: Int! }
    `,
    resolvers: {
      Query: { book: (_source, { title }) => ({ title, pages: 300 }) },
    },
  }),
  plugins: [useRateLimit],
});

const server = createServer(yoga);
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}/graphql`;
  console.log(`
Rollgate in GraphQL Yoga, on ${url}: 1000 fields per client in any minute.

  curl -i '${url}?query=\\{a:book(title:"A")\\{title\\}b:book(title:"B")\\{title\\}\\}'

Ctrl-C stops the server.`);
});
