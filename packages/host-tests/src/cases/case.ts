import { until } from '@rollgate/test-support';
import type { Client, Question, Reply } from '../client.js';

/** A host under test. */
export interface Host {
  readonly client: Client;
  /** The clients of each case have its name, so that no case sees the counts of another one. */
  readonly id: string;
}

/** A case. The name in its table is its title. */
export type Case = (host: Host) => Promise<void>;

export const ask = ({ client, id }: Host, scenario: string, { headers, ...question }: Question = {}): Promise<Reply> =>
  client.open(`/${scenario}`, { ...question, headers: { 'x-client': id, ...headers } }).reply;

export async function statuses(host: Host, scenario: string, count: number, question?: Question): Promise<number[]> {
  const all: number[] = [];
  for (let turn = 0; turn < count; turn++) all.push((await ask(host, scenario, question)).status);
  return all;
}

export async function peek(host: Host, scenario: string): Promise<{ remaining: number }> {
  const { body } = await host.client.open(`/control/peek/${scenario}/${encodeURIComponent(host.id)}`).reply;
  return JSON.parse(body);
}

export const untilRemaining = (host: Host, scenario: string, remaining: number) =>
  until(`${remaining} units remain in ${scenario}`, async () => (await peek(host, scenario)).remaining === remaining);

export const withBehavior = (behavior: string): Question => ({ headers: { 'x-behavior': behavior } });
