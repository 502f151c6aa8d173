import { createReadStream } from 'node:fs';
import { ClientFinder, privateNetworks } from '../../../packages/cli/src/log/client.js';
import { FileReader, ReadState } from '../../../packages/cli/src/log/file-reader.js';
import { RequestFilter } from '../../../packages/cli/src/log/filter.js';

/** The requests of a log by the client's address. */
export interface AccessLog {
  /** The times of each client's requests, in microseconds, which never decrease. */
  readonly clients: ReadonlyMap<string, readonly number[]>;
  readonly requests: number;
  /** The number of lines that are no requests of a client. */
  readonly skipped: number;
}

/** Reads a log as the command line does. Its lines may be in any order, because servers write them when a request ends. */
export async function readAccessLog(path: string): Promise<AccessLog> {
  const clients = new Map<string, number[]>();
  const keySource = { kind: 'ip', field: undefined } as const;
  const clientFinder = new ClientFinder(privateNetworks);
  const selectors = { keySource, time: undefined, cost: undefined, clients: clientFinder, needsTarget: false };
  const state = new ReadState({ format: undefined, selectors, ipv6Prefix: 128, filter: new RequestFilter({}) });
  const reader = new FileReader(path, state, ({ micros, caller }) => {
    const times = clients.get(caller.key) ?? [];
    clients.set(caller.key, times);
    times.push(micros);
  });
  for await (const chunk of createReadStream(path)) reader.push(chunk);
  reader.end();
  for (const times of clients.values()) times.sort((one, other) => one - other);
  const { requests, lines } = state.summary;
  return { clients, requests, skipped: lines - requests };
}
