// An MCP server with a limit on its endpoint and one on each tool.
// npm run example mcp.ts
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  createClientKey,
  RateLimiter,
  rateLimit,
} from '@rollgate/express';
import express from 'express';
import { z } from 'zod';

const { PORT = '3000', LIMIT = '100' } = process.env;

const searches = new RateLimiter({ limit: 2, window: '1m' });
// A household usually has a whole /56 network of IPv6 addresses.
const toKey = createClientKey(56);

function createServer(caller: string): McpServer {
  const server = new McpServer({ name: 'library', version: '1.0.0' });
  server.registerTool(
    'search',
    {
      description: 'Searches the library',
      inputSchema: { title: z.string() },
    },
    async ({ title }) => {
      await searches.enforce(caller);
      return {
        content: [{ type: 'text', text: `One book: ${title}` }],
      };
    },
  );
  return server;
}

const app = express();
app.use(
  '/mcp',
  rateLimit({
    limit: Number(LIMIT),
    window: '1m',
    message: (_request, { retryAfterMs }) => ({
      jsonrpc: '2.0',
      error: {
        code: -32_000,
        message: 'Rate limit exceeded',
        data: { retryAfterMs },
      },
      id: null,
    }),
  }),
);
app.post('/mcp', express.json(), async (request, response) => {
  // With authentication, identify the caller by the token's user
  // instead of the address.
  const server = createServer(toKey(request.ip ?? ''));
  const transport = new StreamableHTTPServerTransport({
    enableJsonResponse: true,
  });
  response.on('close', () => server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(`
Rollgate in an MCP server, on ${url}/mcp: ${LIMIT} requests and 2 searches per client in any minute.

  npx @modelcontextprotocol/inspector              calls the tool search; enter the URL above

Ctrl-C stops the server.`);
});
