import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiQuota } from './api-quotas.js';
import { HOST } from './free-port.js';
import type { LimitedApi } from './limited-apis.js';

/** What a server has counted. */
export interface ApiCounts {
  allowed: number;
  rejected: number;
  allowedUnits: number;
  /** The units of other clients. */
  foreignUnits: number;
}

export interface LimitedApiOptions {
  readonly api: LimitedApi;
  readonly quota: ApiQuota;
  /** The shortest and the longest time that a call takes. */
  readonly latencyMs: readonly [least: number, greatest: number];
}

/** A server on this machine that limits its clients as an API does. The cost of a call is in its address. */
export class LimitedApiServer {
  readonly counts: ApiCounts = { allowed: 0, rejected: 0, allowedUnits: 0, foreignUnits: 0 };
  readonly #options: LimitedApiOptions;
  readonly #server: Server;

  private constructor(options: LimitedApiOptions) {
    this.#options = options;
    this.#server = createServer(async (request, response) => {
      await this.#travel();
      const cost = Number(new URL(request.url!, 'http://localhost').searchParams.get('cost'));
      const status = this.#serve(cost);
      if (status.isAllowed) {
        this.counts.allowed++;
        this.counts.allowedUnits += cost;
      } else this.counts.rejected++;
      const { headers, body, ...rest } = options.api.respond(status);
      const date = new Date(status.nowMs).toUTCString();
      await this.#travel();
      response.writeHead(rest.status, { 'content-type': 'application/json', date, ...headers });
      response.end(JSON.stringify(body));
    });
  }

  static async start(options: LimitedApiOptions): Promise<LimitedApiServer> {
    const api = new LimitedApiServer(options);
    api.#server.listen(0, HOST);
    await once(api.#server, 'listening');
    return api;
  }

  /** The address without a path. */
  get url(): string {
    return `http://${HOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A call of another client. */
  serveOther(cost: number): void {
    if (this.#serve(cost).isAllowed) this.counts.foreignUnits += cost;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #serve(cost: number) {
    return this.#options.quota.serve(cost, Date.now());
  }

  /** Half of the way takes between half of the least and of the greatest latency. */
  #travel(): Promise<void> {
    const [least, greatest] = this.#options.latencyMs;
    return sleep((least + Math.random() * (greatest - least)) / 2);
  }
}
