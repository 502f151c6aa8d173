import type { API, ASTNode, Collection, FileInfo, ObjectExpression } from 'jscodeshift';

import { translateExpress } from './express.js';
import * as fastify from './fastify.js';
import * as imports from './imports.js';

type Translate = typeof translateExpress;
type Migration = Parameters<Translate>[1];
type IsFunction = (node: ASTNode | undefined) => boolean;

/**
 * A transform for jscodeshift. It turns uses of express-rate-limit and @fastify/rate-limit into those of Rollgate, and reports
 * every use that a person has to translate. Returns `undefined` for a file without them.
 */
function transform(file: FileInfo, { j, report: print }: API): string | undefined {
  if (!/rate-?limit/i.test(file.source)) return undefined;
  const root = j(file.source);
  const reported: { readonly line: number; readonly text: string }[] = [];
  const added = new Map<string, Set<string>>();
  const migration: Migration = {
    j,
    report: (node, text) => {
      const { loc } = node as { loc?: { start: { line: number } } | null };
      reported.push({ line: loc?.start.line ?? 0, text });
    },
    addImport: (name, from) => void added.set(from, (added.get(from) ?? new Set()).add(name)),
  };
  const express = imports.replacePackage(root, 'express-rate-limit', '@rollgate/express', migration);
  const plugin = imports.replacePackage(root, '@fastify/rate-limit', '@rollgate/fastify', migration);
  const translate = createTranslator(root, migration);
  if (express !== undefined) translateMiddleware(root, express.isFunction, translate, migration);
  if (plugin !== undefined) translatePlugins(root, plugin.isFunction, translate, migration);
  const routes = findRoutes(root, j).filter((route) => plugin !== undefined || isOldRoute(route));
  for (const route of routes) translate(route, fastify.translateRoute);
  if (express === undefined && plugin === undefined && routes.length === 0) return undefined;
  express?.reportLost();
  plugin?.reportLost();
  for (const [from, names] of added) imports.addImports(root, from, names, j);
  reported.sort((a, b) => a.line - b.line);
  for (const { line, text } of reported) print(`line ${line}: ${text}`);
  return root.toSource({ quote: 'single', arrowParensAlways: true });
}

/** Translates an object literal once, even if several calls share it. */
function createTranslator(root: Collection, migration: Migration) {
  const seen = new Set<ASTNode>();
  return (node: ASTNode, by: Translate) => {
    const options = resolveObject(root, node, migration.j);
    if (options === undefined) migration.report(node, 'The options are not an object literal in this file');
    else if (!seen.has(options)) by(options, migration);
    if (options !== undefined) seen.add(options);
  };
}

type Translator = ReturnType<typeof createTranslator>;

const MEMBERS: Record<string, string> = {
  resetTime: '`resetTime` is a date. A decision has `resetMs`, a wait in milliseconds',
  getKey: 'Use `limiter.peek` of the middleware instead of `getKey`',
  resetKey: 'Use `limiter.reset` of the middleware instead of `resetKey`',
};

function translateMiddleware(root: Collection, isLimiter: IsFunction, translate: Translator, { j, report }: Migration) {
  for (const { node } of root.find(j.CallExpression).paths()) {
    if (!isLimiter(node.callee)) continue;
    if (node.arguments.length === 0) node.arguments.push(j.objectExpression([]));
    translate(node.arguments[0]!, translateExpress);
  }
  for (const { node } of root.find(j.MemberExpression).paths()) {
    const text = node.property.type === 'Identifier' ? MEMBERS[node.property.name] : undefined;
    if (text !== undefined) report(node, text);
  }
}

/** Translates `register(plugin, options)` and `app.rateLimit(options)`. */
function translatePlugins(root: Collection, isPlugin: IsFunction, translate: Translator, { j, report }: Migration) {
  for (const { node } of root.find(j.CallExpression, { callee: { type: 'MemberExpression' } }).paths()) {
    const { callee, arguments: given } = node;
    const name = callee.type === 'MemberExpression' && callee.property.type === 'Identifier' && callee.property.name;
    if (name === 'register' && isPlugin(given[0])) {
      if (given.length === 1) given.push(j.objectExpression([]));
      translate(given[1]!, fastify.translatePlugin);
    }
    if (name === 'rateLimit' && given[0] !== undefined && !isPlugin(callee))
      translate(given[0], fastify.translateRoute);
    if (name === 'createRateLimit') report(node, 'Use `app.rateLimiter` instead of `createRateLimit`');
  }
}

/** Finds the values of `config: { rateLimit: … }`. */
function findRoutes(root: Collection, j: API['j']): ASTNode[] {
  return root
    .find(j.ObjectProperty, { key: { name: 'config' }, value: { type: 'ObjectExpression' } })
    .nodes()
    .flatMap(({ value }) => (value as ObjectExpression).properties)
    .flatMap((option) => {
      const isRoute =
        option.type === 'ObjectProperty' && option.key.type === 'Identifier' && option.key.name === 'rateLimit';
      return isRoute && option.value.type !== 'BooleanLiteral' ? [option.value] : [];
    });
}

/** Whether a route in a file without the plugin has its options. */
const isOldRoute = (route: ASTNode) => route.type === 'ObjectExpression' && fastify.isRoute(route);

/** Returns the object literal that an expression is, or that the variable of this name contains. */
function resolveObject(root: Collection, node: ASTNode | null | undefined, j: API['j']): ObjectExpression | undefined {
  if (node?.type === 'ObjectExpression') return node;
  if (node?.type === 'TSAsExpression' || node?.type === 'TSSatisfiesExpression')
    return resolveObject(root, node.expression, j);
  if (node?.type !== 'Identifier') return undefined;
  const [found] = root.find(j.VariableDeclarator, { id: { name: node.name } }).nodes();
  return found?.init?.type === 'Identifier' ? undefined : resolveObject(root, found?.init, j);
}

/** Reads JavaScript and TypeScript, with JSX. */
const parser = 'tsx';
export default Object.assign(transform, { parser });
