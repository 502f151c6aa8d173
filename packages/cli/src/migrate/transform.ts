import { createPatch } from 'diff';
import type { API, ASTNode, Collection, FileInfo, ObjectExpression } from 'jscodeshift';
import * as express from './express.js';
import * as fastify from './fastify.js';
import * as imports from './imports.js';
import type { Migration } from './options.js';

type Translate = typeof express.translateExpress;
type IsFunction = (node: ASTNode | undefined) => boolean;

/**
 * A transform for jscodeshift. It turns uses of express-rate-limit and @fastify/rate-limit into those of Rollgate, and reports
 * every use that a person has to translate. Returns `undefined` for a file without them.
 */
function transform(
  file: FileInfo,
  { j, report: print }: API,
  { diff }: { readonly diff?: boolean } = {},
): string | undefined {
  if (!/rate-?limit/i.test(file.source)) return undefined;
  const root = j(file.source);
  const reported: { readonly line: number; readonly text: string }[] = [];
  const added = new Map<string, Set<string>>();
  const migration: Migration = {
    j,
    root,
    isTranslated: () => false,
    report: (node, text) => {
      const { loc } = node as { loc?: { start: { line: number } } | null };
      reported.push({ line: loc?.start.line ?? 0, text });
    },
    addImport: (name, from) => void added.set(from, (added.get(from) ?? new Set()).add(name)),
  };
  const middleware = imports.replacePackage(root, 'express-rate-limit', '@rollgate/express', migration);
  const plugin = imports.replacePackage(root, '@fastify/rate-limit', '@rollgate/fastify', migration);
  const translate = createTranslator(root, migration);
  const partBy = middleware === undefined ? fastify.translateRoute : express.translatePart;
  migration.isTranslated = (node) => translate(node, partBy, false);
  if (middleware !== undefined) {
    translateMiddleware(root, middleware.isFunction, translate, migration);
    express.translateAddressKeys(root, middleware.addressKeys, migration);
  }
  translatePlugins(root, plugin?.isFunction, translate, migration);
  // Options from elsewhere are reported.
  const isOld = (route: ASTNode) =>
    plugin !== undefined || isOldHook(root, route, j) || resolveObject(root, route, j) === undefined;
  for (const route of findRoutes(root, j).filter(isOld)) translate(route, fastify.translateRoute);
  for (const { types } of [middleware, plugin].filter((uses) => uses !== undefined))
    for (const node of findTyped(root, types, j)) migration.isTranslated(node);
  reportFlexible(root, migration);
  middleware?.reportLost();
  plugin?.reportLost();
  for (const [from, names] of added) imports.addImports(root, from, names, j);
  reported.sort((a, b) => a.line - b.line);
  for (const { line, text } of reported) print(`line ${line}: ${text}`);
  const source = root.toSource({ quote: 'single', arrowParensAlways: true });
  if (source === file.source) return undefined;
  if (diff) console.log(createPatch(file.path, file.source, source));
  return source;
}

const FLEXIBLE = 'rate-limiter-flexible';
const FLEXIBLE_PAGE = `https://rollgate-js.github.io/rollgate/migrating-from-${FLEXIBLE}`;

/** Names the page about the other common limiter, which has other classes for each store. */
function reportFlexible(root: Collection, { j, report }: Migration): void {
  for (const { node } of root.find(j.StringLiteral, { value: FLEXIBLE }).paths())
    report(node, `${FLEXIBLE} was not translated. See ${FLEXIBLE_PAGE}`);
}

/** Translates an object literal once, even if several calls share it. Returns whether there is one. */
function createTranslator(root: Collection, migration: Migration) {
  const seen = new Set<ASTNode>();
  return (node: ASTNode, by: Translate, isReported = true): boolean => {
    const options = resolveObject(root, node, migration.j);
    if (options === undefined) {
      if (isReported) migration.report(node, 'The options are not an object literal in this file');
      return false;
    }
    if (seen.has(options)) return true;
    seen.add(options);
    by(options, migration);
    if (node.type === 'Identifier') reportAssignments(root, node.name, migration);
    return true;
  };
}

type Translator = ReturnType<typeof createTranslator>;

/** Reports options that are set after their object was created. */
function reportAssignments(root: Collection, name: string, { j, report }: Migration): void {
  const left = { type: 'MemberExpression', object: { type: 'Identifier', name } };
  for (const { node } of root.find(j.AssignmentExpression, { left } as object).paths())
    report(node, `An option that is set later was not translated: \`${j(node.left as never).toSource()}\``);
}

const RESET_TIME = '`resetTime` is a date. A decision has `resetMs`, a wait in milliseconds';

const MEMBERS = new Map([
  ['resetTime', RESET_TIME],
  ['getKey', 'Use `limiter.peek` of the middleware instead of `getKey`'],
  ['resetKey', 'Use `limiter.reset` of the middleware instead of `resetKey`'],
]);

/** What only the old decision has. */
const DECISION_MEMBERS = new Map([
  ['used', 'A decision has no `used`. It is `limit - remaining`'],
  ['current', 'A decision has no `current`. It is `limit - remaining`'],
  ['key', 'A decision has no `key`'],
  ['resetTime', RESET_TIME],
]);

function translateMiddleware(root: Collection, isLimiter: IsFunction, translate: Translator, migration: Migration) {
  const { j, report } = migration;
  const limiters = new Set<string>();
  for (const path of root.find(j.CallExpression).paths()) {
    const { node } = path;
    if (!isLimiter(node.callee)) continue;
    if (node.arguments.length === 0) node.arguments.push(j.objectExpression([]));
    translate(node.arguments[0]!, express.translateExpress);
    const { node: parent } = path.parent;
    if (parent.type === 'VariableDeclarator') limiters.add(j(parent.id).toSource());
    if (parent.type === 'AssignmentExpression') limiters.add(j(parent.left).toSource());
    if (parent.type === 'ClassProperty') limiters.add(`this.${j(parent.key).toSource()}`);
  }
  for (const { node } of root.find(j.AwaitExpression, { argument: { type: 'CallExpression' } }).paths()) {
    const callee = j((node.argument as { callee: ASTNode }).callee).toSource();
    if (limiters.has(callee))
      report(node, `\`await ${callee}(…)\`: check that what follows does not run for a rejected request`);
  }
  reportMembers(root, migration);
}

/** Reports members of the old decision: of `request.rateLimit`, of a variable with it, and in patterns. */
function reportMembers(root: Collection, { j, report }: Migration): void {
  const variables = new Set<string>();
  const named = root.find(j.ObjectProperty, { key: { name: 'requestPropertyName' } }).nodes();
  const properties = ['rateLimit', ...named.map(({ value }) => (value as { value?: unknown }).value)];
  const isDecision = (node: ASTNode | null | undefined): boolean => {
    if (node?.type === 'TSNonNullExpression' || node?.type === 'TSAsExpression') return isDecision(node.expression);
    if (node?.type !== 'MemberExpression' && node?.type !== 'OptionalMemberExpression') return false;
    return node.property.type === 'Identifier' && properties.includes(node.property.name);
  };
  const reportPattern = (pattern: ASTNode) => {
    for (const property of pattern.type === 'ObjectPattern' ? pattern.properties : []) {
      const isNamed = property.type === 'ObjectProperty' && property.key.type === 'Identifier';
      const text = isNamed ? DECISION_MEMBERS.get((property.key as { name: string }).name) : undefined;
      if (text !== undefined) report(property, text);
    }
  };
  for (const { node } of root.find(j.VariableDeclarator).paths()) {
    if (!isDecision(node.init)) continue;
    if (node.id.type === 'Identifier') variables.add(node.id.name);
    else reportPattern(node.id);
  }
  for (const { key, value } of root.find(j.ObjectProperty, { key: { type: 'Identifier' } }).nodes())
    if (properties.includes((key as { name: string }).name)) reportPattern(value);
  const members = [...root.find(j.MemberExpression).nodes(), ...root.find(j.OptionalMemberExpression).nodes()];
  for (const node of new Set(members)) {
    if (node.property.type !== 'Identifier' || node.computed) continue;
    const { object } = node;
    const isOfDecision = isDecision(object) || (object.type === 'Identifier' && variables.has(object.name));
    const text = (isOfDecision ? DECISION_MEMBERS : MEMBERS).get(node.property.name);
    if (text !== undefined) report(node, text);
  }
}

/** Translates `register(plugin, options)` and `app.rateLimit(options)`. */
function translatePlugins(
  root: Collection,
  isPlugin: IsFunction | undefined,
  translate: Translator,
  { j, report }: Migration,
) {
  for (const { node } of root.find(j.CallExpression, { callee: { type: 'MemberExpression' } }).paths()) {
    const { callee, arguments: given } = node;
    const name = callee.type === 'MemberExpression' && callee.property.type === 'Identifier' && callee.property.name;
    if (name === 'register' && isPlugin?.(given[0])) {
      if (given.length === 1) given.push(j.objectExpression([]));
      translate(given[1]!, fastify.translatePlugin);
    }
    const isHook = name === 'rateLimit' && given[0] !== undefined && !isPlugin?.(callee);
    if (isHook && (isPlugin !== undefined || isOldHook(root, given[0]!, j)))
      translate(given[0]!, fastify.translateRoute);
    if (name === 'createRateLimit' && isPlugin !== undefined)
      report(node, 'Use `app.rateLimiter` instead of `createRateLimit`');
  }
}

/** Finds the values of `config: { rateLimit: … }`. */
function findRoutes(root: Collection, j: API['j']): ASTNode[] {
  return root
    .find(j.ObjectProperty, { key: { name: 'config' } })
    .nodes()
    .flatMap(({ value }) => resolveObject(root, value, j)?.properties ?? [])
    .flatMap((option) => {
      const isRoute =
        option.type === 'ObjectProperty' && option.key.type === 'Identifier' && option.key.name === 'rateLimit';
      return isRoute && option.value.type !== 'BooleanLiteral' ? [option.value] : [];
    });
}

/** Finds what is declared or asserted to have one of these types: values, and what functions return. */
function findTyped(root: Collection, types: ReadonlySet<string>, j: API['j']): ASTNode[] {
  const hasType = (node: unknown) =>
    Boolean(node) &&
    j(node as ASTNode)
      .find(j.TSTypeReference)
      .some(({ node: { typeName } }) => typeName.type === 'Identifier' && types.has(typeName.name));
  const annotationOf = (node: ASTNode) => (node.type === 'Identifier' ? node.typeAnnotation : undefined);
  return [
    ...root
      .find(j.VariableDeclarator, ({ id }) => hasType(annotationOf(id)))
      .nodes()
      .map(({ init }) => init),
    ...root
      .find(j.AssignmentPattern, ({ left }) => hasType(annotationOf(left)))
      .nodes()
      .map(({ right }) => right),
    ...root
      .find(j.ClassProperty, ({ typeAnnotation }) => hasType(typeAnnotation))
      .nodes()
      .map(({ value }) => value),
    ...root.find(j.TSAsExpression, ({ typeAnnotation }) => hasType(typeAnnotation)).nodes(),
    ...root.find(j.TSSatisfiesExpression, ({ typeAnnotation }) => hasType(typeAnnotation)).nodes(),
    ...root
      .find(j.Function, ({ returnType }) => hasType(returnType))
      .nodes()
      .flatMap(({ body }) => [
        body,
        ...j(body)
          .find(j.ReturnStatement)
          .nodes()
          .map(({ argument }) => argument),
      ]),
  ].filter((node) => node !== null && node !== undefined);
}

/** Whether a hook in a file without the plugin has its options. */
function isOldHook(root: Collection, route: ASTNode, j: API['j']): boolean {
  const options = resolveObject(root, route, j);
  return options !== undefined && fastify.isRoute(options);
}

/** Returns the object literal that an expression is, or that the variable of this name contains. */
function resolveObject(root: Collection, node: ASTNode | null | undefined, j: API['j']): ObjectExpression | undefined {
  if (node?.type === 'ObjectExpression') return node;
  if (node?.type === 'TSAsExpression' || node?.type === 'TSSatisfiesExpression')
    return resolveObject(root, node.expression, j);
  // `LIMITS.login` of `const LIMITS = { login: { … } }`
  if (node?.type === 'MemberExpression' && node.property.type === 'Identifier' && !node.computed) {
    const { name } = node.property;
    const found = resolveObject(root, node.object, j)?.properties.find(
      (option) => option.type === 'ObjectProperty' && option.key.type === 'Identifier' && option.key.name === name,
    );
    return found?.type === 'ObjectProperty' ? resolveObject(root, found.value, j) : undefined;
  }
  if (node?.type !== 'Identifier') return undefined;
  const [found] = root.find(j.VariableDeclarator, { id: { name: node.name } }).nodes();
  return found?.init?.type === 'Identifier' ? undefined : resolveObject(root, found?.init, j);
}

/** Reads JavaScript and TypeScript, with JSX. */
export const parser = 'tsx';
export default transform;
