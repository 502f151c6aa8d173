import type { ASTNode, Collection, JSCodeshift } from 'jscodeshift';

type FunctionNode = Extract<
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
function wrapResults(j: JSCodeshift, node: FunctionNode, kind: Kind): ASTNode[] {
  const wrapped: ASTNode[] = [];
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
      if (path.node.argument) path.node.argument = wrap(path.node.argument);
      else if (kind === 'boolean') path.node.argument = j.booleanLiteral(false);
    }
    if (kind === 'boolean' && !endsAlways(node.body)) node.body.body.push(j.returnStatement(j.booleanLiteral(false)));
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

/** Whether a number comes from the environment, as text. */
function isFromEnvironment(root: Collection, j: JSCodeshift, node: ASTNode, depth = 0): boolean {
  if (node.type === 'CallExpression' || node.type === 'UnaryExpression' || node.type === 'BinaryExpression')
    return false;
  if (node.type === 'LogicalExpression')
    return isFromEnvironment(root, j, node.left, depth) || isFromEnvironment(root, j, node.right, depth);
  if (node.type === 'ConditionalExpression')
    return [node.consequent, node.alternate].some((each) => isFromEnvironment(root, j, each, depth));
  if (node.type === 'TSAsExpression' || node.type === 'TSNonNullExpression')
    return isFromEnvironment(root, j, node.expression, depth);
  if (node.type === 'MemberExpression') return isEnvironment(node.object);
  if (node.type !== 'Identifier' || depth > 4) return false;
  return root
    .find(j.VariableDeclarator)
    .nodes()
    .some(({ id, init }) => {
      if (!init) return false;
      if (id.type === 'Identifier') return id.name === node.name && isFromEnvironment(root, j, init, depth + 1);
      return (
        id.type === 'ObjectPattern' && isEnvironment(init) && j(id).find(j.Identifier, { name: node.name }).length > 0
      );
    });
}

const isEnvironment = (node: ASTNode): boolean =>
  node.type === 'MemberExpression' && node.property.type === 'Identifier' && node.property.name === 'env';

export { isFromEnvironment, wrapResults };
