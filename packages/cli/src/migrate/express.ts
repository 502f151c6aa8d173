import type { ASTNode, Collection, ObjectExpression, ObjectProperty } from 'jscodeshift';
import type { Migration, Rule, Rules } from './options.js';
import * as options from './options.js';

const limit = options.renameNumber('limit', 5);

/** A text is sent as text, unless it contains markup. */
const message: Rule = (option, migration) => {
  const { j } = migration;
  if (option.type === 'ObjectProperty' && ['StringLiteral', 'TemplateLiteral'].includes(option.value.type)) {
    const html = j.objectProperty(j.identifier('html'), option.value);
    if (j(option.value).toSource().includes('<')) option.value = j.objectExpression([html]);
  }
  const reason = 'its second argument is the decision instead of the response';
  return options.sameWithin(1, reason)(option, migration);
};

const statusCode: Rule = (option) => {
  const status = options.literalOf(option);
  return typeof status === 'number' && (status < 400 || status > 599) ? 'it must be from 400 to 599' : [option];
};

/** The default prefix of `ipKeyGenerator`. */
const IPV6_SUBNET = 56;

/** The address of the request itself is the key of Rollgate, which the second argument returns. */
const key: Rule = (option, migration) => {
  const { j } = migration;
  const isOwn = (node: ASTNode | undefined): boolean => {
    if (node?.type === 'TSNonNullExpression' || node?.type === 'TSAsExpression') return isOwn(node.expression);
    if (node?.type === 'LogicalExpression') return node.right.type === 'StringLiteral' && isOwn(node.left);
    const [parameter] = options.parametersOf(option) ?? [];
    const isAddress =
      node?.type === 'MemberExpression' && node.property.type === 'Identifier' && node.property.name === 'ip';
    if (!isAddress || node.object.type !== 'Identifier' || parameter?.type !== 'Identifier') return false;
    return node.object.name === parameter.name;
  };
  const own = j(option)
    .find(j.CallExpression, { callee: { name: 'ipKeyGenerator' } })
    .filter(({ node }) => node.arguments.length === 1 && isOwn(node.arguments[0]));
  own.replaceWith(() => j.callExpression(j.identifier('clientKey'), []));
  translateAddressKeys(j(option), ['ipKeyGenerator'], migration);
  const translated = options.renameResult('key', 'text')(option, migration);
  if (own.length > 0 && typeof translated !== 'string') options.parametersOf(option)!.push(j.identifier('clientKey'));
  return translated;
};

/** Turns `ipKeyGenerator(address, bits)` into `createClientKey(bits)(address)`. */
export function translateAddressKeys(
  within: Collection,
  names: readonly string[],
  { j, report, addImport }: Migration,
): void {
  for (const path of within.find(j.CallExpression).paths()) {
    const { callee, arguments: given } = path.node;
    if (callee.type !== 'Identifier' || !names.includes(callee.name) || given.length === 0) continue;
    const [address, bits = j.numericLiteral(IPV6_SUBNET)] = given;
    if (bits.type !== 'NumericLiteral')
      report(path.node, 'The argument of `createClientKey` must be a number of bits from 1 to 128');
    addImport('createClientKey', '@rollgate/express');
    path.replace(j.callExpression(j.callExpression(j.identifier('createClientKey'), [bits]), [address!]));
  }
}

/** What a handler calls that decides about the status. */
const STATUS = ['status', 'sendStatus', 'statusCode', 'writeHead', 'redirect', 'next'];

/** A handler of the request and the response works unchanged. */
const handler: Rule = (option, migration) => {
  const found = options.functionOf(option, migration);
  const isOwn = options.parametersOf(option) !== undefined;
  const fits = found !== undefined && (isOwn ? options.takesAtMost(3, option, migration) : found.params.length <= 3);
  if (!fits) return 'it gets the decision instead of the options, and the status is set already';
  const setsStatus = migration.j(found).find(migration.j.Identifier, ({ name }) => STATUS.includes(name)).length > 0;
  if (!setsStatus) migration.report(option, 'The response of `handler` has the status 429 now. It had 200');
  return [option];
};

const RULES: Rules = {
  windowMs: options.renameNumber('window', 60_000),
  limit,
  max: limit,
  message,
  statusCode,
  handler,
  requestPropertyName: options.same,
  keyGenerator: key,
  ipv6Subnet: (option, migration) =>
    typeof options.literalOf(option) === 'number'
      ? options.rename('ipv6Prefix')(option, migration)
      : 'it must be a number',
  skip: options.renameResult('skip', 'boolean'),
  skipSuccessfulRequests: options.same,
  skipFailedRequests: options.sameWith(
    'A request whose client disconnects counts now. To refund it as before, set `skipAbortedRequests: true`',
  ),
  requestWasSuccessful: options.renameResult('requestWasSuccessful', 'boolean', 2),
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
  if (legacy === undefined && standard === undefined) return;
  const hasSpread = given.properties.some(({ type }) => type === 'SpreadElement');
  if (hasSpread && (legacy === undefined || standard === undefined)) {
    const text = 'an object that is spread may set the other one';
    report(legacy ?? standard!, `\`legacyHeaders\` and \`standardHeaders\` were not translated: ${text}`);
    return;
  }
  const sendsLegacy = legacy === undefined ? true : options.literalOf(legacy);
  const sendsStandard = standard === undefined ? false : options.literalOf(standard);
  if (typeof sendsLegacy !== 'boolean' || sendsStandard === undefined) {
    report(legacy ?? given, '`legacyHeaders` and `standardHeaders` were not translated: their values are not literals');
    return;
  }
  // In the place of the old ones, so that a following object that is spread overrides it as before.
  const place = Math.max(...[legacy, standard].map((option) => given.properties.indexOf(option as ObjectProperty)));
  const following = given.properties.length - 1 - place;
  given.properties = given.properties.filter((option) => option !== legacy && option !== standard);
  if (sendsStandard && sendsStandard !== 'draft-8') {
    report(standard!, 'Draft 11 replaces `RateLimit-Limit` and its siblings by `RateLimit` and `RateLimit-Policy`');
  }
  const headers = sendsStandard ? (sendsLegacy ? 'all' : 'draft-11') : sendsLegacy ? undefined : 'none';
  if (headers !== undefined) {
    const option = j.objectProperty(j.identifier('headers'), j.stringLiteral(headers));
    given.properties.splice(given.properties.length - following, 0, option);
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

/** Translates options of express-rate-limit that an object adds to others. */
export function translatePart(given: ObjectExpression, migration: Migration): void {
  translateHeaders(given, migration);
  options.translateOptions(given, RULES, migration);
}

/** Translates the options of `rateLimit` of express-rate-limit, and adds the defaults that Rollgate does not have. */
export function translateExpress(given: ObjectExpression, migration: Migration): void {
  options.addDefault(given, ['limit', 'max'], 5, migration);
  options.addDefault(given, ['windowMs'], 60_000, migration);
  translatePart(given, migration);
  translateIdentifier(given, migration);
}
