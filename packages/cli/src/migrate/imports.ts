import type { API, ASTNode, ASTPath, CallExpression, Collection, ImportDeclaration } from 'jscodeshift';
import type { Migration } from './options.js';

/** What a file calls the function of a package, and the names that Rollgate does not have. */
const createUses = () => ({
  names: new Set<string>(),
  nodes: new Set<ASTNode>(),
  lost: new Set<string>(),
  /** Names of `ipKeyGenerator`. */
  addressKeys: new Set<string>(),
  /** Types with another name. */
  renamed: new Map<string, string>(),
  /** Types of options. */
  types: new Set<string>(),
  /** Names of the whole package. */
  namespaces: new Set<string>(),
});
type Uses = ReturnType<typeof createUses>;

type Reporter = Pick<Migration, 'j' | 'report'>;

/** The types of the old packages, and those of Rollgate. */
const TYPES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '@rollgate/express': { RateLimitRequestHandler: 'RateLimitMiddleware', Options: 'RateLimitOptions' },
  '@rollgate/fastify': {
    RateLimitOptions: 'RateLimitRouteOptions',
    RateLimitPluginOptions: 'RateLimitPluginOptions',
  },
};

/** The names under which a package exports its function. */
const FUNCTION = ['default', 'rateLimit', 'fastifyRateLimit'];

/**
 * Replaces a package where a file imports or requires it, and reports where it cannot.
 *
 * @returns Whether an expression is the function of the package; `undefined` if the file does not use it.
 */
export function replacePackage(root: Collection, from: string, to: string, { j, report }: Reporter) {
  const uses = createUses();
  const mentions = () => root.find(j.StringLiteral, { value: from });
  if (mentions().length === 0) return undefined;
  for (const path of root.find(j.ImportDeclaration, { source: { value: from } }).paths()) {
    replaceImport(path, to, uses, j);
  }
  for (const path of root.find(j.CallExpression).paths()) {
    const [argument] = path.node.arguments;
    if (argument?.type !== 'StringLiteral' || argument.value !== from) continue;
    if (replaceLoad(path, uses, j, root)) argument.value = to;
  }
  for (const name of uses.namespaces) replaceMembers(root, name, uses, { j, report }, from);
  for (const [name, type] of uses.renamed) {
    for (const { node } of root.find(j.TSTypeReference, { typeName: { name } }).paths())
      node.typeName = j.identifier(type);
  }
  for (const { node } of mentions().paths()) report(node, `This use of ${from} was not translated`);
  return {
    addressKeys: [...uses.addressKeys],
    types: uses.types,
    isFunction: (node: ASTNode | undefined) =>
      node !== undefined && (uses.nodes.has(node) || (node.type === 'Identifier' && uses.names.has(node.name))),
    reportLost: () => {
      for (const { node } of root.find(j.Identifier).paths()) {
        if (uses.lost.has(node.name)) report(node, `\`${node.name}\` has no counterpart in Rollgate`);
      }
    },
  };
}

/** Imports the function by its name, because only @rollgate/fastify has it as the default. */
function replaceImport(path: ASTPath<ImportDeclaration>, to: string, uses: Uses, j: API['j']): void {
  const { node } = path;
  const specifiers = node.specifiers ?? [];
  if (specifiers.some(({ type }) => type === 'ImportNamespaceSpecifier')) return;
  node.specifiers = specifiers.flatMap((specifier) => {
    const imported = specifier.type === 'ImportSpecifier' ? String(specifier.imported.name) : 'default';
    const local = String(specifier.local?.name ?? imported);
    const type = TYPES[to]?.[imported];
    if (type !== undefined && specifier.type === 'ImportSpecifier') {
      const name = local === imported ? type : local;
      if (name !== local) uses.renamed.set(local, type);
      if (type.endsWith('Options')) uses.types.add(name);
      const translated = j.importSpecifier(j.identifier(type), j.identifier(name));
      return [Object.assign(translated, { importKind: (specifier as { importKind?: string }).importKind })];
    }
    if (imported === 'ipKeyGenerator') {
      uses.addressKeys.add(local);
      return [];
    }
    if (!FUNCTION.includes(imported)) {
      uses.lost.add(local);
      return [];
    }
    uses.names.add(local);
    const isDefault = specifier.type === 'ImportDefaultSpecifier' && to === '@rollgate/fastify';
    return [isDefault ? specifier : j.importSpecifier(j.identifier('rateLimit'), j.identifier(local))];
  });
  node.source = j.stringLiteral(to);
  if (node.specifiers.length === 0 && specifiers.length > 0) path.prune();
}

/** Translates what a file does with `require(…)` or `await import(…)`. Returns whether it could. */
function replaceLoad(call: ASTPath<CallExpression>, uses: Uses, j: API['j'], root: Collection): boolean {
  const isImport = call.node.callee.type === 'Import';
  if (!isImport && !(call.node.callee.type === 'Identifier' && call.node.callee.name === 'require')) return false;
  const parent = call.parent as ASTPath;
  if (isImport && parent.node.type !== 'AwaitExpression') {
    // Fastify waits for what it registers.
    uses.nodes.add(call.node);
    return isRegistered(parent.node);
  }
  return replaceLoaded(isImport ? parent : call, uses, j, root);
}

const isRegistered = (node: ASTNode) =>
  node.type === 'CallExpression' &&
  node.callee.type === 'MemberExpression' &&
  'name' in node.callee.property &&
  node.callee.property.name === 'register';

/** Whether a file uses members of a variable, so that it is the package and not its function. */
const hasMembers = (root: Collection, name: string, j: API['j']): boolean =>
  root.find(j.MemberExpression, { object: { type: 'Identifier', name } }).length > 0 ||
  root.find(j.VariableDeclarator, { id: { type: 'ObjectPattern' }, init: { type: 'Identifier', name } }).length > 0;

function replaceLoaded(loaded: ASTPath, uses: Uses, j: API['j'], root: Collection): boolean {
  const { node: parent } = loaded.parent as ASTPath;
  if (parent.type === 'VariableDeclarator' && parent.id.type === 'Identifier') {
    if (hasMembers(root, parent.id.name, j)) {
      uses.namespaces.add(parent.id.name);
      return true;
    }
    uses.names.add(parent.id.name);
    parent.id = j.objectPattern([bind('rateLimit', parent.id.name, j)]);
    return true;
  }
  if (parent.type === 'VariableDeclarator' && parent.id.type === 'ObjectPattern') {
    parent.id.properties = parent.id.properties.flatMap((property) => {
      if (
        property.type !== 'ObjectProperty' ||
        property.key.type !== 'Identifier' ||
        property.value.type !== 'Identifier'
      ) {
        return [property];
      }
      if (property.key.name === 'ipKeyGenerator') {
        uses.addressKeys.add(property.value.name);
        return [];
      }
      const isFunction = FUNCTION.includes(property.key.name);
      (isFunction ? uses.names : uses.lost).add(property.value.name);
      return isFunction ? [bind('rateLimit', property.value.name, j)] : [];
    });
    return true;
  }
  if (parent.type === 'MemberExpression') {
    if (parent.property.type !== 'Identifier' || !FUNCTION.includes(parent.property.name)) return false;
    parent.property = j.identifier('rateLimit');
    uses.nodes.add(parent);
    const { node: outer } = loaded.parent.parent as ASTPath;
    if (outer.type === 'VariableDeclarator' && outer.id.type === 'Identifier') uses.names.add(outer.id.name);
    return true;
  }
  if (parent.type !== 'CallExpression') return false;
  const member = j.memberExpression(loaded.node as CallExpression, j.identifier('rateLimit'));
  uses.nodes.add(member);
  loaded.replace(member);
  return true;
}

/** Translates `name.rateLimit`, `name.default`, `name(…)` and the like, and reports every other use of the whole package. */
function replaceMembers(root: Collection, name: string, uses: Uses, { j, report }: Reporter, from: string): void {
  for (const path of root.find(j.Identifier, { name }).paths()) {
    const { node: parent } = path.parent as ASTPath;
    if (parent.type === 'VariableDeclarator' && parent.id === path.node) continue;
    const isObject = parent.type === 'MemberExpression' && parent.object === path.node;
    if (parent.type === 'MemberExpression' && !isObject && !parent.computed) continue;
    if (parent.type === 'ObjectProperty' && parent.key === path.node && parent.value !== path.node) continue;
    if (isObject && parent.property.type === 'Identifier') {
      const member = parent.property.name;
      const { node: outer } = path.parent.parent as ASTPath;
      if (FUNCTION.includes(member)) {
        parent.property = j.identifier('rateLimit');
        uses.nodes.add(parent);
        if (outer.type === 'VariableDeclarator' && outer.id.type === 'Identifier') uses.names.add(outer.id.name);
      } else if (member === 'ipKeyGenerator' && outer.type === 'CallExpression' && outer.callee === parent) {
        path.parent.replace(j.identifier('ipKeyGenerator'));
        uses.addressKeys.add('ipKeyGenerator');
      } else report(path.node, `\`${member}\` has no counterpart in Rollgate`);
    } else if (parent.type === 'CallExpression') {
      const member = j.memberExpression(j.identifier(name), j.identifier('rateLimit'));
      uses.nodes.add(member);
      path.replace(member);
    } else report(path.node, `This use of ${from} was not translated`);
  }
}

function bind(name: string, local: string, j: API['j']) {
  return Object.assign(j.objectProperty(j.identifier(name), j.identifier(local)), { shorthand: local === name });
}

/** Adds names to the import of a package, or a new import or `require` next to the first one. */
export function addImports(root: Collection, from: string, names: ReadonlySet<string>, j: API['j']): void {
  const [existing] = root.find(j.ImportDeclaration, { source: { value: from } }).nodes();
  const specifiers = [...names].map((name) => j.importSpecifier(j.identifier(name)));
  if (existing !== undefined) existing.specifiers!.push(...specifiers);
  else if (root.find(j.ImportDeclaration).length > 0) {
    root
      .find(j.ImportDeclaration)
      .at(-1)
      .insertAfter(j.importDeclaration(specifiers, j.stringLiteral(from)));
  } else {
    const added = [...names].map((name) => bind(name, name, j));
    const required = { callee: { name: 'require' }, arguments: [{ value: from }] };
    const [loaded] = root
      .find(j.VariableDeclarator, { id: { type: 'ObjectPattern' }, init: required } as object)
      .nodes();
    if (loaded?.id.type === 'ObjectPattern') return void loaded.id.properties.push(...added);
    const pattern = j.objectPattern(added);
    const call = j.callExpression(j.identifier('require'), [j.stringLiteral(from)]);
    const declaration = j.variableDeclaration('const', [j.variableDeclarator(pattern, call)]);
    root.find(j.VariableDeclaration).at(0).insertBefore(declaration);
  }
}
