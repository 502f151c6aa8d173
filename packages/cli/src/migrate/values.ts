import type { ASTNode, Collection, JSCodeshift } from 'jscodeshift';

export type FunctionNode = Extract<
  ASTNode,
  { type: 'ArrowFunctionExpression' | 'FunctionExpression' | 'FunctionDeclaration' | 'ObjectMethod' }
>;
/** What a function must return. */
type Kind = 'boolean' | 'text';

const BOOLEAN_METHODS = ['test', 'includes', 'startsWith', 'endsWith', 'some', 'every', 'has', 'isArray', 'isInteger'];
const TEXT_METHODS = [
  'toString',
  'toLowerCase',
  'toUpperCase',
  'trim',
  'join',
  'slice',
  'replace',
  'replaceAll',
  'padStart',
  'digest',
];
const BOOLEAN_OPERATORS = ['==', '!=', '===', '!==', '<', '>', '<=', '>=', 'in', 'instanceof'];

/** Whether an expression certainly has a value of this kind. */
function isCertain(node: ASTNode, kind: Kind): boolean {
  switch (node.type) {
    case 'BooleanLiteral':
      return kind === 'boolean';
    case 'StringLiteral':
    case 'TemplateLiteral':
      return kind === 'text';
    case 'ParenthesizedExpression':
    case 'TSAsExpression':
    case 'TSNonNullExpression':
    case 'TSSatisfiesExpression':
      return isCertain(node.expression, kind);
    case 'UnaryExpression':
      return kind === 'boolean' ? node.operator === '!' || node.operator === 'delete' : node.operator === 'typeof';
    case 'BinaryExpression':
      if (kind === 'boolean') return BOOLEAN_OPERATORS.includes(node.operator);
      return node.operator === '+' && (isCertain(node.left, kind) || isCertain(node.right, kind));
    case 'LogicalExpression':
      // Text that is empty or missing takes the other side.
      if (kind === 'text' && node.operator !== '&&') return isCertain(node.right, kind) && isTextOrMissing(node.left);
      return isCertain(node.left, kind) && isCertain(node.right, kind);
    case 'ConditionalExpression':
      return isCertain(node.consequent, kind) && isCertain(node.alternate, kind);
    case 'CallExpression':
      return isCertainCall(node.callee, kind);
    // A request of a framework has an address, as the old packages expect, too.
    case 'MemberExpression':
      return kind === 'text' && node.property.type === 'Identifier' && node.property.name === 'ip';
    default:
      return false;
  }
}

/** The fields and functions of a request whose value is text, or missing. */
const REQUEST_TEXTS = ['get', 'header', 'headers', 'ip', 'hostname', 'path', 'url'];

function isTextOrMissing(node: ASTNode): boolean {
  if (isCertain(node, 'text')) return true;
  if (node.type === 'CallExpression' || node.type === 'OptionalCallExpression') return isTextOrMissing(node.callee);
  if (node.type !== 'MemberExpression' && node.type !== 'OptionalMemberExpression') return false;
  const { property, object } = node;
  return (property.type === 'Identifier' && REQUEST_TEXTS.includes(property.name)) || isTextOrMissing(object);
}

function isCertainCall(callee: ASTNode, kind: Kind): boolean {
  if (callee.type === 'Identifier')
    return (kind === 'boolean' ? ['Boolean', 'isNaN'] : ['String', 'clientKey']).includes(callee.name);
  if (callee.type === 'CallExpression')
    return kind === 'text' && callee.callee.type === 'Identifier' && callee.callee.name === 'createClientKey';
  const isMember = callee.type === 'MemberExpression' && callee.property.type === 'Identifier';
  return (
    isMember &&
    (kind === 'boolean' ? BOOLEAN_METHODS : TEXT_METHODS).includes((callee.property as { name: string }).name)
  );
}

/** Whether the value of an expression is certainly no promise. */
function isSync(node: ASTNode): boolean {
  if (node.type === 'LogicalExpression') return isSync(node.left) && isSync(node.right);
  if (node.type === 'ConditionalExpression') return isSync(node.consequent) && isSync(node.alternate);
  if (node.type === 'CallExpression' || node.type === 'OptionalCallExpression')
    return isTextOrMissing(node) || isCertain(node, 'boolean') || isMatch(node.callee);
  return node.type !== 'Identifier' && node.type !== 'NewExpression';
}

const isMatch = (callee: ASTNode): boolean =>
  (callee.type === 'MemberExpression' || callee.type === 'OptionalMemberExpression') &&
  callee.property.type === 'Identifier' &&
  ['match', 'exec', 'find', 'indexOf'].includes(callee.property.name);

/** Whether a value may be missing, so that its text would be `undefined`. */
function mayBeMissing(j: JSCodeshift, node: ASTNode): boolean {
  if (node.type === 'OptionalMemberExpression' || node.type === 'OptionalCallExpression') return true;
  return isTextOrMissing(node) || j(node).find(j.OptionalMemberExpression).length > 0;
}

/**
 * Makes a function return exactly what Rollgate requires: `Boolean(…)` or `String(…)` of what it returned before. It becomes
 * async if that may be a promise.
 *
 * @returns What it returned that may be missing.
 */
export function wrapResults(j: JSCodeshift, node: FunctionNode, kind: Kind): ASTNode[] {
  const wrapped: ASTNode[] = [];
  /** What a function without a value returned, as the old package read it. */
  const nothing = () => {
    if (kind === 'boolean') return j.booleanLiteral(false);
    const missing = j.stringLiteral('undefined');
    wrapped.push(missing);
    return missing;
  };
  const wrap = (value: ASTNode): never => {
    if (isCertain(value, kind)) return value as never;
    wrapped.push(value);
    const isAwaited = value.type === 'AwaitExpression' || (isSync(value) && !node.async);
    if (!isAwaited) node.async = true;
    const inner = isAwaited ? value : j.awaitExpression(value as never);
    return j.callExpression(j.identifier(kind === 'boolean' ? 'Boolean' : 'String'), [inner as never]) as never;
  };
  if (node.body.type !== 'BlockStatement') node.body = wrap(node.body);
  else {
    for (const path of j(node.body).find(j.ReturnStatement).paths()) {
      let owner = path.parent;
      while (!/Function|ObjectMethod|ClassMethod/.test(owner.node.type) && owner.node !== node.body && owner.parent)
        owner = owner.parent;
      if (owner.node !== node.body && owner.node !== node) continue;
      path.node.argument = path.node.argument ? wrap(path.node.argument) : nothing();
    }
    if (!endsAlways(node.body)) node.body.body.push(j.returnStatement(nothing()));
  }
  return wrapped.filter((value) => mayBeMissing(j, value));
}

function endsAlways(node: ASTNode | null | undefined): boolean {
  if (node?.type === 'BlockStatement') return endsAlways(node.body.at(-1));
  if (node?.type === 'IfStatement') return endsAlways(node.consequent) && endsAlways(node.alternate);
  if (node?.type === 'TryStatement')
    return endsAlways(node.finalizer) || (endsAlways(node.block) && (!node.handler || endsAlways(node.handler.body)));
  return node?.type === 'ReturnStatement' || node?.type === 'ThrowStatement';
}

/** Whether a number comes from the environment, as text: `'unset'` if it may be missing there, `undefined` if it does not. */
export function environmentOf(root: Collection, j: JSCodeshift, node: ASTNode, depth = 0): 'set' | 'unset' | undefined {
  const find = (inner: ASTNode) => environmentOf(root, j, inner, depth);
  if (node.type === 'LogicalExpression') {
    const [left, right] = [find(node.left), find(node.right)];
    return node.operator === '&&' || left === undefined ? (left ?? right) : (right ?? 'set');
  }
  if (node.type === 'ConditionalExpression') return find(node.consequent) ?? find(node.alternate);
  if (node.type === 'TSAsExpression' || node.type === 'TSNonNullExpression') return find(node.expression);
  if (node.type === 'MemberExpression') return isEnvironment(node.object) ? 'unset' : undefined;
  if (node.type !== 'Identifier' || depth > 4) return undefined;
  for (const { id, init } of root.find(j.VariableDeclarator).nodes()) {
    if (!init) continue;
    if (id.type === 'Identifier' && id.name === node.name) return environmentOf(root, j, init, depth + 1);
    if (id.type !== 'ObjectPattern' || !isEnvironment(init)) continue;
    if (j(id).find(j.AssignmentPattern, { left: { name: node.name } }).length > 0) return 'set';
    if (j(id).find(j.Identifier, { name: node.name }).length > 0) return 'unset';
  }
  return undefined;
}

const isEnvironment = (node: ASTNode): boolean =>
  node.type === 'MemberExpression' && node.property.type === 'Identifier' && node.property.name === 'env';
