import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiQuota } from '@rollgate/test-support/api-quotas';
import { type ApiCounts, LimitedApiServer } from '@rollgate/test-support/limited-api-server';
import { LIMITED_APIS, type LimitedApiName } from '@rollgate/test-support/limited-apis';

/** What several processes do at once, with one API and one Redis. */
export interface ProcessTrial {
  readonly api: LimitedApiName;
  readonly quota: ApiQuota;
  readonly redisUrl: string;
  readonly processes: number;
  /** The calls that each process has open or waiting at once. */
  readonly callers?: number;
  /** The least and the greatest cost of a call. */
  readonly costs?: readonly [number, number];
  /** What the processes estimate instead, as a factor. */
  readonly estimate?: number;
  /** A limit that they know from the documentation of the API. */
  readonly ownLimit?: { readonly limit: number; readonly window: number };
  readonly latencyMs?: readonly [number, number];
  readonly aheadMs?: number;
  /** The calls of another client. */
  readonly others?: { readonly cost: number; readonly everyMs: number };
}

const PROGRAM = `${__dirname}/calling-process.mjs`;

/** Processes that call an API until they are stopped (see `calling-process.mjs`). */
export class CallingProcesses {
  readonly #server: LimitedApiServer;
  readonly #processes: readonly ChildProcess[];
  #others: NodeJS.Timeout | undefined;

  private constructor(server: LimitedApiServer, processes: readonly ChildProcess[]) {
    this.#server = server;
    this.#processes = processes;
  }

  /** Resolves when the processes call an API, from the beginning of a window on. */
  static async start(trial: ProcessTrial): Promise<CallingProcesses> {
    const { api, quota, latencyMs = [20, 60], aheadMs = 0 } = trial;
    const server = await LimitedApiServer.start({ api: LIMITED_APIS[api], quota, latencyMs, aheadMs });
    const started = new CallingProcesses(
      server,
      Array.from({ length: trial.processes }, () => startProcess(trial, server.url)),
    );
    await Promise.all(started.#processes.map((process) => once(process, 'message')));
    await delay(quota.windowMs - ((Date.now() + aheadMs) % quota.windowMs));
    for (const process of started.#processes) process.send('start');
    const { others } = trial;
    if (others !== undefined) started.#others = setInterval(() => server.serveOther(others.cost), others.everyMs);
    return started;
  }

  /** What the API has counted so far. */
  get counts(): Readonly<ApiCounts> {
    return this.#server.counts;
  }

  /** Kills some of the processes while their calls are open. */
  kill(count: number): void {
    for (const process of this.#processes.slice(0, count)) process.kill('SIGKILL');
  }

  stop(): void {
    clearInterval(this.#others);
    this.kill(this.#processes.length);
    this.#server.close();
  }
}

function startProcess(trial: ProcessTrial, url: string): ChildProcess {
  const { api, redisUrl, callers = 10, costs = [1, 1], estimate = 1, ownLimit } = trial;
  const address = url + LIMITED_APIS[api].path;
  const options = { address, redisUrl, dialect: api, callers, costs, estimate, ownLimit, lease: '3s' };
  return fork(PROGRAM, [JSON.stringify(options)], { execArgv: ['--no-warnings'] });
}
