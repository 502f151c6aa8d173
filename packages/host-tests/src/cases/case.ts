import { until } from '@rollgate/test-support';
import type { Client, Reply, RequestOptions } from '../client.js';

/** A host under test. */
export interface Host {
  readonly client: Client;
  /** The clients of each case have its name, so that no case sees the counts of another one. */
  readonly id: string;
}

/** A case. The name in its table is its title. */
export type Case = (host: Host) => Promise<void>;

export const send = (
  { client, id }: Host,
  scenario: string,
  { headers, ...options }: RequestOptions = {},
): Promise<Reply> => client.open(`/${scenario}`, { ...options, headers: { 'x-client': id, ...headers } }).reply;

export async function statuses(
  host: Host,
  scenario: string,
  count: number,
  options?: RequestOptions,
): Promise<number[]> {
  const all: number[] = [];
  for (let turn = 0; turn < count; turn++) all.push((await send(host, scenario, options)).status);
  return all;
}

export async function peek(host: Host, scenario: string): Promise<{ remaining: number }> {
  const { body } = await host.client.open(`/control/peek/${scenario}/${encodeURIComponent(host.id)}`).reply;
  return JSON.parse(body);
}

export const untilRemaining = (host: Host, scenario: string, remaining: number) =>
  until(`${remaining} units remain in ${scenario}`, async () => (await peek(host, scenario)).remaining === remaining);

export const withBehavior = (behavior: string): RequestOptions => ({ headers: { 'x-behavior': behavior } });
