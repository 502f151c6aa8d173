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

export const APIS: Readonly<Record<ApiName, ApiSettings>> = {
  github: { path: '/repos/octocat/hello', limit: 250, windowMs: 10_000, cost: one },
  openai: { path: '/v1/models', limit: 60_000, windowMs: 10_000, cost: () => 200 + Math.floor(Math.random() * 1800) },
  discord: { path: '/api/v10/channels/123456789012345678/messages', limit: 5, windowMs: 1000, cost: one },
};

/** How an API responds to a call. */
export interface Reply {
  readonly isAllowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Decides on a call by its cost. */
export type Serve = (cost: number) => Reply;

/** Returns the decisions of an API whose quota is still full. */
export function createApi(name: ApiName): Serve {
  const settings = APIS[name];
  if (name === 'openai') return serveTokens(settings);
  return name === 'github' ? serveAlignedWindows(settings) : serveStartedWindows(settings);
}

/** The units that the API allows within a time that is a multiple of its window. */
export function unitsWithin(name: ApiName, ms: number): number {
  const { limit, windowMs } = APIS[name];
  return limit * (ms / windowMs + (name === 'openai' ? 1 : 0)); // A full bucket comes on top of what refills.
}

/** Windows of the clock, whose end the headers of GitHub state in whole seconds since the Unix epoch. */
function serveAlignedWindows({ limit, windowMs }: ApiSettings): Serve {
  let [window, used] = [0, 0];
  return (cost) => {
    const current = Math.floor(Date.now() / windowMs);
    if (current !== window) [window, used] = [current, 0];
    const isAllowed = used + cost <= limit;
    if (isAllowed) used += cost;
    const headers = {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(limit - used),
      'x-ratelimit-reset': String(((window + 1) * windowMs) / 1000),
      'x-ratelimit-resource': 'core',
    };
    return { isAllowed, headers };
  };
}

/** Windows that start with a call, whose rest the headers of Discord state. */
function serveStartedWindows({ limit, windowMs }: ApiSettings): Serve {
  let [endMs, used] = [0, 0];
  return (cost) => {
    const nowMs = performance.now();
    if (nowMs >= endMs) [endMs, used] = [nowMs + windowMs, 0];
    const isAllowed = used + cost <= limit;
    if (isAllowed) used += cost;
    const restSeconds = (endMs - nowMs) / 1000;
    const headers = {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(limit - used),
      'x-ratelimit-reset': ((Date.now() + endMs - nowMs) / 1000).toFixed(3),
      'x-ratelimit-reset-after': restSeconds.toFixed(3),
      'x-ratelimit-bucket': 'abcd1234',
    };
    const rejection = { 'retry-after': String(Math.ceil(restSeconds)), 'x-ratelimit-scope': 'user' };
    return { isAllowed, headers: isAllowed ? headers : { ...headers, ...rejection } };
  };
}

/** A bucket of tokens that refills continuously, with the headers of OpenAI. */
function serveTokens({ limit, windowMs }: ApiSettings): Serve {
  let [level, atMs] = [limit, performance.now()];
  const msOf = (tokens: number) => Math.ceil((tokens * windowMs) / limit);
  return (cost) => {
    const nowMs = performance.now();
    level = Math.min(limit, level + ((nowMs - atMs) * limit) / windowMs);
    atMs = nowMs;
    const isAllowed = level >= cost;
    if (isAllowed) level -= cost;
    const headers = {
      'x-ratelimit-limit-tokens': String(limit),
      'x-ratelimit-remaining-tokens': String(Math.floor(level)),
      'x-ratelimit-reset-tokens': `${msOf(limit - level)}ms`,
    };
    if (isAllowed) return { isAllowed, headers };
    const waitMs = msOf(cost - level);
    const rejection = { 'retry-after-ms': String(waitMs), 'retry-after': String(Math.ceil(waitMs / 1000)) };
    return { isAllowed, headers: { ...headers, ...rejection } };
  };
}
