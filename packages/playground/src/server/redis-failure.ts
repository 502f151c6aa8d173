/** What to do about a failure of Redis, by the code of the socket's error or by the text of Redis's reply. */
const ADVICE: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [/ECONNREFUSED/, 'Nothing listens there. Start Redis, or correct the host and port in `REDIS_URL`.'],
  [/ENOTFOUND|EAI_AGAIN/, 'The host is unknown. Correct it in `REDIS_URL`.'],
  [/NOAUTH|WRONGPASS/, 'Redis requires another user name or password. Correct them in `REDIS_URL`.'],
  [/NOPERM/, 'The Redis user lacks permissions. It needs all commands on keys that start with `rollgate-playground`.'],
  [/DB index/, 'Redis has no such database. Correct its number in `REDIS_URL`.'],
  [/LOADING/, 'Redis is still loading its data. Try again later.'],
  [/Protocol error|ERR_SSL|EPROTO/, 'The server there does not speak this protocol. Correct `REDIS_URL`.'],
];

/** Describes why Redis could not be used, in the playground's words instead of the client's. */
export function describeFailure(...errors: readonly unknown[]): string {
  const text = errors.map((error) => `${(error as NodeJS.ErrnoException | undefined)?.code} ${error}`).join(' ');
  const found = ADVICE.find(([pattern]) => pattern.test(text));
  return found?.[1] ?? 'Redis did not respond as expected within 3 s. Check that `REDIS_URL` leads to a running Redis.';
}
