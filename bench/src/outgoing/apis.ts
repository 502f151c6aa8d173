import { AlignedWindows, type ApiQuota, RefillingQuota, StartedWindows } from '@rollgate/test-support/api-quotas';
import { LIMITED_APIS } from '@rollgate/test-support/limited-apis';

/** The APIs whose behavior the servers of the comparison have. */
export type ApiName = 'github' | 'openai' | 'discord';

/** The limit of an API, with a shorter time than the real one. */
export interface ApiSettings {
  readonly path: string;
  /** Requests, or tokens for OpenAI. */
  readonly limit: number;
  /** The length of a window, or the time in which an empty bucket is full again. */
  readonly windowMs: number;
  readonly cost: () => number;
}

const one = () => 1;
const tokens = () => 200 + Math.floor(Math.random() * 1800);

export const APIS: Readonly<Record<ApiName, ApiSettings>> = {
  github: { path: LIMITED_APIS.github.path, limit: 250, windowMs: 10_000, cost: one },
  openai: { path: LIMITED_APIS.openai.path, limit: 60_000, windowMs: 10_000, cost: tokens },
  discord: { path: LIMITED_APIS.discord.path, limit: 5, windowMs: 1000, cost: one },
};

const QUOTAS = { github: AlignedWindows, openai: RefillingQuota, discord: StartedWindows };

/** Returns the quota of an API, which is still full. */
export function createQuota(name: ApiName): ApiQuota {
  const { limit, windowMs } = APIS[name];
  return new QUOTAS[name](limit, windowMs);
}

/** The units that the API allows within a time that is a multiple of its window. */
export function unitsWithin(name: ApiName, ms: number): number {
  const { limit, windowMs } = APIS[name];
  return limit * (ms / windowMs + (name === 'openai' ? 1 : 0)); // A full bucket comes on top of what refills.
}
