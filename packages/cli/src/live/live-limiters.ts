import { subscribe } from 'node:diagnostics_channel';
import { type Decision, type Limit, type LimitDecision, RateLimiter } from '@rollgate/core';
import { createLimit, describedLimiters, type LimitDescription, type LimiterDescription } from '@rollgate/core/observe';
import { StoreAccessError, UsageError } from '../errors.js';
import { toPlainText } from '../report/escape-invisible.js';
import { type OpenStore, openStore, type StoreOptions } from './open-store.js';
import { type Credentials, readCredentials } from './url-credentials.js';

/** A limiter of a running system. */
export interface LiveLimiter {
  readonly description: LimiterDescription;
  readonly limiter: RateLimiter;
  /** The names of its limits that this command can read. */
  readonly names: readonly string[];
}

/** The parsed options of all commands that ask a store. */
export interface LiveOptions extends Omit<StoreOptions, 'isReadOnly'> {
  readonly limiter?: readonly string[];
  readonly json?: boolean;
}

/** Returns a record with the key for each of these limits, whose names no type knows. */
export function keysFor(names: readonly string[], key: string): never {
  return Object.fromEntries(names.map((name) => [name, key])) as never;
}

/** Peeks at some limits of a key. */
export async function peek(
  { limiter }: LiveLimiter,
  names: readonly string[],
  key: string,
): Promise<Readonly<Record<string, LimitDecision>>> {
  const decision: Decision = await limiter.peek(keysFor(names, key));
  return decision.limits;
}

/** Longer than the server takes for a page of keys, even when it is busy. */
const TIMEOUT = '10s';

/** Opens the store of a URL, and calls `use` with its limiters, as {@link withStore} does. */
export function withLimiters(
  url: string,
  options: LiveOptions & Pick<StoreOptions, 'isReadOnly'>,
  use: (limiters: readonly LiveLimiter[]) => Promise<void>,
): Promise<void> {
  return withStore(url, options, async (open) => use(await findLimiters(open, options)));
}

/**
 * Opens the store of a URL, and calls `use`. Afterward, closes it.
 *
 * @param url `env:NAME` stands for the environment variable, so that a password is neither in the history nor in the list of processes.
 * @throws StoreAccessError if the store fails. Its message contains no credentials.
 */
export async function withStore(
  url: string,
  options: StoreOptions,
  use: (open: OpenStore) => Promise<void>,
): Promise<void> {
  const address = url.startsWith('env:') ? readVariable(url.slice('env:'.length)) : url;
  const credentials = readCredentials(address);
  subscribe('rollgate:store:failure', () => {}); // The command prints the error, so it needs no warning.
  process.removeAllListeners('warning').on('warning', printWarning);
  let open: OpenStore | undefined;
  try {
    open = await openStore(address, credentials, options);
    await use(open);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new StoreAccessError(withoutSecrets(messageOf(error), credentials));
  } finally {
    await open?.close();
  }
}

/** What Node or a driver warns of says nothing to an operator. */
function printWarning({ name, message }: Error): void {
  if (name === 'RollgateWarning') process.stderr.write(`rollgate: ${toPlainText(message, 600)}\n`);
}

function readVariable(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  throw new UsageError(`Expected the environment variable ${name} to contain a URL, got nothing`);
}

async function findLimiters(open: OpenStore, { limiter: wanted }: LiveOptions): Promise<LiveLimiter[]> {
  const descriptions = await describedLimiters(open.create({}));
  if (descriptions.length === 0) {
    throw new StoreAccessError(
      'Expected the store to describe a limiter, got no description. Call `describeLimiter(limiter)` of @rollgate/core/observe when your app starts',
    );
  }
  const known = descriptions.map(({ name }) => name);
  const missing = wanted?.find((name) => !known.includes(name));
  if (missing !== undefined) {
    throw new UsageError(`Expected \`--limiter\` to be one of ${known.join(', ')}, got ${JSON.stringify(missing)}`);
  }
  const chosen = descriptions.filter(({ name }) => wanted?.includes(name) ?? true);
  return (await Promise.all(withoutShared(chosen).map((description) => toLive(description, open)))).flat();
}

/** Limiters with the same prefix share the states of their equal limits, which belong to the first of them here. */
function withoutShared(descriptions: readonly LimiterDescription[]): LimiterDescription[] {
  const seen = new Set<string>();
  const isFirst = (id: string) => seen.size < seen.add(id).size;
  return descriptions
    .map(({ limits, ...rest }) => {
      const own = Object.entries(limits).filter((limit) => isFirst(JSON.stringify([rest.prefix, rest.store, limit])));
      return { ...rest, limits: Object.fromEntries(own) };
    })
    .filter(({ limits }) => Object.keys(limits).length > 0);
}

async function toLive(description: LimiterDescription, open: OpenStore): Promise<LiveLimiter[]> {
  const { name, prefix, store } = description;
  if ('leasing' in store) {
    leaveOut(name, 'its LeasingStore keeps other limits, which only your app can read');
    return [];
  }
  const { limits, unknown } = await createLimits(description.limits);
  for (const limit of unknown) leaveOut(`${limit} of ${name}`, 'this version of the command line cannot read it');
  if (Object.keys(limits).length === 0) return [];
  const limiter = new RateLimiter({ name, prefix, limits, store: open.create(store), timeout: TIMEOUT });
  return [{ description, limiter, names: Object.keys(limits) }];
}

function leaveOut(what: string, reason: string): void {
  process.stderr.write(`rollgate: Left out ${toPlainText(what, 200)}, because ${reason}\n`);
}

function messageOf(error: unknown): string {
  const { message = '', errors, code } = (error ?? {}) as { message?: string; errors?: Error[]; code?: string };
  // Node has an error without a message for a host with several addresses.
  return message || (errors?.[0]?.message ?? code ?? String(error));
}

/** Replaces the address and its password, which a driver may have put into its message. */
function withoutSecrets(message: string, { secrets }: Credentials): string {
  return secrets.reduce((text, secret) => text.replaceAll(secret, '…'), message);
}

/** The limits of a description, and the names of those that this version does not know. */
interface CreatedLimits {
  readonly limits: Readonly<Record<string, Limit>>;
  readonly unknown: readonly string[];
}

/** Creates the limits of a description, which another version of the app may have written. */
async function createLimits(descriptions: Readonly<Record<string, LimitDescription>>): Promise<CreatedLimits> {
  const limits: Record<string, Limit> = {};
  const unknown: string[] = [];
  for (const [name, description] of Object.entries(descriptions)) {
    try {
      // It brings an implementation of calendars.
      const calendar = description.algorithm === 'calendar-window' ? await import('@rollgate/calendar') : undefined;
      limits[name] = createLimit(description, calendar?.calendarWindow);
    } catch {
      unknown.push(name);
    }
  }
  return { limits, unknown };
}
