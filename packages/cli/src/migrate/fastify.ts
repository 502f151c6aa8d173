import type { ObjectExpression } from 'jscodeshift';
import type { Migration, Rule, Rules } from './options.js';
import * as options from './options.js';

/** Both packages read text alike if it has a unit. */
const window: Rule = (option, migration) => {
  const value = options.literalOf(option);
  if (typeof value === 'string' && !/[a-z]$/.test(value)) return `'${value}' is not a duration of Rollgate`;
  if (options.isFromEnvironment(option, migration)) {
    migration.report(option, "`window` is from the environment. Its text needs a unit, such as '1m' or '60000ms'");
    return options.rename('window')(option, migration);
  }
  return options.renameNumber('window', 60_000)(option, migration);
};

const max: Rule = (option, migration) => {
  if (options.isFromEnvironment(option, migration) || options.isNamed(option, 'Infinity'))
    migration.report(
      option,
      '@fastify/rate-limit takes 1000 for a `max` that is text or Infinity. Rollgate takes it as it is',
    );
  return options.renameNumber('limit', 1000)(option, migration);
};

const allowList: Rule = (option, migration) => {
  if (options.functionOf(option, migration) !== undefined)
    return options.renameResult('skip', 'boolean')(option, migration);
  return option.type === 'ObjectProperty' && option.value.type === 'ArrayExpression'
    ? [option]
    : 'it must be an array of addresses, or become `skip`';
};

const redis: Rule = (option, { j, addImport }) => {
  if (option.type !== 'ObjectProperty') return 'it must be a client';
  addImport('RedisStore', '@rollgate/redis');
  const client = j.objectProperty(j.identifier('client'), option.value as never);
  const store = j.newExpression(j.identifier('RedisStore'), [j.objectExpression([client])]);
  return [j.objectProperty(j.identifier('store'), store)];
};

const draftHeaders: Rule = (option, migration) => {
  if (options.literalOf(option) === true) {
    const text = 'Draft 11 replaces `RateLimit-Limit` and its siblings by `RateLimit` and `RateLimit-Policy`';
    migration.report(option, text);
  }
  return options.flag('headers', 'draft-11', undefined)(option, migration);
};

const RULES: Rules = {
  global: options.same,
  max,
  timeWindow: window,
  hook: options.same,
  keyGenerator: options.renameResult('key', 'text'),
  ipv6Subnet: options.rename('ipv6Prefix'),
  allowList,
  redis,
  nameSpace: options.rename('prefix'),
  skipOnError: options.flag('onStoreError', 'allow', 'throw'),
  enableDraftSpec: draftHeaders,
  onExceeded: options.renameFunction('onLimited'),
  continueExceeding: options.rename('countRejected'),
  groupId: options.sameWith('Routes with the same `groupId` count together now. Before, each counted alone'),
  cache: options.untranslated('use `store: new MemoryStore({ maxKeys })`'),
  store: options.untranslated('create a store of Rollgate instead of passing a class'),
  errorResponseBuilder: options.untranslated('use `message`, which gets the decision and returns the body'),
  addHeaders: options.untranslated("`headers: 'none'` leaves out all headers but `Retry-After`"),
  addHeadersOnExceeding: options.untranslated("`headers: 'none'` leaves out all headers but `Retry-After`"),
  onExceeding: options.untranslated('subscribe to the channel `rollgate:request`'),
  ban: options.untranslated('close the key with a limit of `block()`'),
  onBanReach: options.untranslated('call it where you close the key'),
  exponentialBackoff: options.untranslated('close the key with a limit of `block()`, for longer each time'),
};

/** Translates the options of a route, which inherits the others from the plugin. */
export function translateRoute(given: ObjectExpression, migration: Migration): void {
  options.translateOptions(given, RULES, migration);
}

/** Translates the options of @fastify/rate-limit, and adds its defaults that Rollgate does not have. */
export function translatePlugin(given: ObjectExpression, migration: Migration): void {
  options.addDefault(given, ['timeWindow'], 60_000, migration);
  options.addDefault(given, ['max'], 1000, migration);
  options.addDefault(given, ['ipv6Subnet', 'keyGenerator'], 64, migration);
  translateRoute(given, migration);
}

/** Whether an object looks like options of @fastify/rate-limit for a route, and not like those of another limiter. */
export function isRoute(given: ObjectExpression): boolean {
  const has = (name: string) => options.findOption(given, name) !== undefined;
  return (has('max') || has('timeWindow')) && !has('windowMs') && !has('limit');
}
