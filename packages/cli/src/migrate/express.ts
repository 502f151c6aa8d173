import type { ObjectExpression, ObjectProperty } from 'jscodeshift';

import * as options from './options.js';

type Rules = Parameters<typeof options.translateOptions>[1];
type Rule = Rules[string];
type Migration = Parameters<typeof options.translateOptions>[2];

const limit: Rule = (option, migration) =>
  options.literalOf(option) === 0
    ? 'Rollgate has no limit of 0. Reject all requests with your own code'
    : options.renameValue('limit')(option, migration);

/** The address of a request is the key of Rollgate, which the second argument returns. */
const key: Rule = (option, migration) => {
  const { j } = migration;
  const translated = options.renameFunction('key')(option, migration);
  if (typeof translated === 'string') return translated;
  const calls = j(option).find(j.CallExpression, { callee: { name: 'ipKeyGenerator' } });
  if (calls.length > 0) {
    options.parametersOf(option)!.push(j.identifier('clientKey'));
    calls.replaceWith(() => j.callExpression(j.identifier('clientKey'), []));
  }
  return translated;
};

const handler: Rule = (option, migration) =>
  options.parametersOf(option) !== undefined && options.takesAtMost(3, option, migration)
    ? [option]
    : 'it gets the decision instead of the options, and the status is set already';

const RULES: Rules = {
  windowMs: options.renameValue('window'),
  limit,
  max: limit,
  message: options.sameWithin(1, 'its second argument is the decision instead of the response'),
  statusCode: options.same,
  handler,
  requestPropertyName: options.same,
  keyGenerator: key,
  ipv6Subnet: (option, migration) =>
    typeof options.literalOf(option) === 'number'
      ? options.rename('ipv6Prefix')(option, migration)
      : 'it must be a number',
  skip: options.renameFunction('skip'),
  skipSuccessfulRequests: options.same,
  skipFailedRequests: options.same,
  requestWasSuccessful: options.same,
  passOnStoreError: options.flag('onStoreError', 'allow', 'throw'),
  store: options.untranslated('create a store of Rollgate, such as `RedisStore` of @rollgate/redis'),
  retryAfter: options.untranslated('`Retry-After` is always the exact wait'),
  validate: options.untranslated('`silence` names the warnings that Rollgate must not emit'),
  logger: options.untranslated('Rollgate emits process warnings and publishes events'),
  // These depend on other options, so the table passes them on.
  headers: options.same,
  legacyHeaders: options.same,
  standardHeaders: options.same,
  identifier: options.same,
};

/** `legacyHeaders` and `standardHeaders` are one option, whose value depends on both. */
function translateHeaders(given: ObjectExpression, { j, report }: Migration): void {
  const legacy = options.findOption(given, 'legacyHeaders') ?? options.findOption(given, 'headers');
  const standard = options.findOption(given, 'standardHeaders');
  const sendsLegacy = legacy === undefined ? true : options.literalOf(legacy);
  const sendsStandard = standard === undefined ? false : options.literalOf(standard);
  if (typeof sendsLegacy !== 'boolean' || sendsStandard === undefined) {
    report(legacy ?? given, '`legacyHeaders` and `standardHeaders` were not translated: their values are not literals');
    return;
  }
  given.properties = given.properties.filter((option) => option !== legacy && option !== standard);
  if (sendsStandard && sendsStandard !== 'draft-8') {
    report(standard!, 'Draft 11 replaces `RateLimit-Limit` and its siblings by `RateLimit` and `RateLimit-Policy`');
  }
  const headers = sendsStandard ? (sendsLegacy ? 'all' : 'draft-11') : sendsLegacy ? undefined : 'none';
  if (headers !== undefined) {
    given.properties.push(j.objectProperty(j.identifier('headers'), j.stringLiteral(headers)));
  }
}

/** A policy has the name of its limit. */
function translateIdentifier(given: ObjectExpression, { j, report, addImport }: Migration): void {
  const identifier = options.findOption(given, 'identifier');
  if (identifier === undefined) return;
  const name = options.literalOf(identifier);
  const window = ['window', 'limit'].map((option) => options.findOption(given, option)) as ObjectProperty[];
  const isConstant = window.every((option) => option !== undefined && options.parametersOf(option) === undefined);
  if (typeof name !== 'string' || !/^[\w.-]+$/.test(name) || !isConstant) {
    report(identifier, '`identifier` was not translated: give the limit this name in `limits`');
    return;
  }
  addImport('rollingWindow', '@rollgate/express');
  const rule = j.callExpression(j.identifier('rollingWindow'), [j.objectExpression(window)]);
  const limits = j.objectExpression([j.objectProperty(j.stringLiteral(name), rule)]);
  const others = given.properties.filter(
    (option) => option !== identifier && !window.includes(option as ObjectProperty),
  );
  given.properties = [j.objectProperty(j.identifier('limits'), limits), ...others];
}

/** Translates the options of `rateLimit` of express-rate-limit, and adds the defaults that Rollgate does not have. */
function translateExpress(given: ObjectExpression, migration: Migration): void {
  options.addDefault(given, ['limit', 'max'], 5, migration);
  options.addDefault(given, ['windowMs'], 60_000, migration);
  translateHeaders(given, migration);
  options.translateOptions(given, RULES, migration);
  translateIdentifier(given, migration);
}

export { translateExpress };
