import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiName, createApi } from './apis.js';

/** What a server has counted. */
export interface Counts {
  allowed: number;
  rejected: number;
  allowedUnits: number;
  foreignUnits: number;
}

export interface ApiServer {
  readonly url: string;
  readonly counts: Counts;
  /** Takes one unit for another client. */
  useByOthers(): void;
  close(): void;
}

/** Half of the shortest and of the longest time that a call takes. */
const WAY_MS = [10, 40] as const;

const travel = () => sleep(WAY_MS[0] + Math.random() * (WAY_MS[1] - WAY_MS[0]));

/** Starts a server that behaves like this API, 20 to 80 ms away. */
export async function startApi(name: ApiName): Promise<ApiServer> {
  const serve = createApi(name);
  const counts: Counts = { allowed: 0, rejected: 0, allowedUnits: 0, foreignUnits: 0 };
  const server = createServer(async (request, response) => {
    await travel();
    const cost = Number(new URL(request.url!, 'http://localhost').searchParams.get('cost'));
    const { isAllowed, headers } = serve(cost);
    if (isAllowed) {
      counts.allowed++;
      counts.allowedUnits += cost;
    } else counts.rejected++;
    await travel();
    response.writeHead(isAllowed ? 200 : 429, { 'content-type': 'application/json', ...headers }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    useByOthers: () => {
      if (serve(1).isAllowed) counts.foreignUnits++;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
