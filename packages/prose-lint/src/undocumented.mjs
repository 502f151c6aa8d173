// Lists public members without a doc comment, from the declarations that the build writes. The build of the documentation
// site requires the same comments, but takes minutes: node packages/prose-lint/src/undocumented.mjs [folder of packages].
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGES = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));

/** `export { a, type B as C } from './file.js'`, and the same without `from`. */
const EXPORT_LIST = /^export (?:type )?\{([^}]*)\}(?: from '(\.[^']+)')?;/gm;
const DECLARATION = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|class|function|const|type|enum) (\w+)/;
/** A member of a class, an interface or an object type, as `tsc` indents it. */
const MEMBER = /^ {4}(?:(?:static|readonly|abstract|get|set|async) )*(\w+)\??[:(<;]/;
const HERITAGE = /\b(?:extends|implements) ([^{]+)/g;

/** A declaration, with the lines of its own members and whether each has a comment. */
class Declaration {
  constructor(file, text, isDocumented) {
    Object.assign(this, { file, text, isDocumented, members: [] });
    // The members of a parameter's type are not public.
    const isWhole = text.split('(').length === text.split(')').length;
    this.hasMembers = isWhole && /\b(?:class|interface|enum) |[=&] \{$/.test(text);
    this.parents = [...withoutTypeArguments(text).matchAll(HERITAGE)].flatMap(
      ([, names]) => names.match(/\b[A-Z]\w*/g) ?? [],
    );
  }
}

function withoutTypeArguments(text) {
  const shorter = text.replaceAll('=>', '').replace(/<[^<>]*>/g, '');
  return shorter === text ? text : withoutTypeArguments(shorter);
}

/** The declarations of a file by name. Overloads count as one. */
function declarationsIn(file) {
  const found = new Map();
  const lines = readFileSync(file, 'utf8').split('\n');
  let current;
  let parameters = [];
  lines.forEach((text, index) => {
    const isDocumented = lines[index - 1]?.trimEnd().endsWith('*/') ?? false;
    const [, name] = DECLARATION.exec(text) ?? [];
    const [, member] = MEMBER.exec(text) ?? [];
    if (name !== undefined) {
      current = new Declaration(file, text, isDocumented);
      if (!found.has(name)) found.set(name, current);
    } else if (current?.hasMembers && member !== undefined && member !== 'constructor') {
      current.members.push({ name: member, file, text, isDocumented });
    }
    const [, parameter] = /^ {4,5}\/?\*\*? @param (\w+)/.exec(text) ?? [];
    if (parameter !== undefined) parameters.push({ name: parameter, isDocumented: true });
    else if (member !== undefined) {
      // A parameter of a constructor may be a member.
      if (member === 'constructor') current?.members.push(...parameters);
      parameters = [];
    }
  });
  return found;
}

/** What `package.json` exports of a published package, as the files of its declarations. */
function entryPointsOf(folder) {
  const manifest = join(folder, 'package.json');
  const { private: isPrivate, exports = {} } = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {};
  const built = isPrivate ? [] : Object.values(exports).map((target) => (target.node ?? target).require);
  return built.filter(Boolean).map((path) => join(folder, path.replace(/\.js$/, '.d.ts')));
}

const entryPoints = readdirSync(PACKAGES).flatMap((name) => entryPointsOf(join(PACKAGES, name)));
/** The declarations of all published packages, by file and name. */
const declared = new Map(
  [...new Set(entryPoints.map(dirname))].flatMap((dist) =>
    readdirSync(dist, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.d.ts'))
      .map((file) => [join(dist, file), declarationsIn(join(dist, file))]),
  ),
);

/** The declarations that an entry point exports by name. Those of other packages belong to their own entry points. */
function exportsOf(file) {
  return [...readFileSync(file, 'utf8').matchAll(EXPORT_LIST)].flatMap(([, list, from]) => {
    const names = list.split(',').map((each) => each.trim().replace(/^type | as .*/g, ''));
    const source = from === undefined ? file : join(dirname(file), from.replace(/\.js$/, '.d.ts'));
    return names.flatMap((name) => declared.get(source).get(name) ?? []);
  });
}

const named = new Map();
for (const declarations of declared.values()) {
  for (const [name, declaration] of declarations) named.set(name, [...(named.get(name) ?? []), declaration]);
}
const parentsOf = ({ parents }) => parents.map((name) => named.get(name) ?? []);

const membersOf = (declaration) => [...declaration.members, ...parentsOf(declaration).flat().flatMap(membersOf)];

/** Whether a declaration, or one that it extends or implements, documents the member. */
function hasComment(declaration, member) {
  return (
    declaration.members.some(({ name, isDocumented }) => name === member && isDocumented) ||
    // A parent of Node or of a framework is unknown here, and documents its members.
    parentsOf(declaration).some((known) => known.length === 0 || known.some((parent) => hasComment(parent, member)))
  );
}

const exported = new Set(entryPoints.flatMap(exportsOf));
const undocumented = [...exported].flatMap((declaration) => [
  ...(declaration.isDocumented ? [] : [declaration]),
  ...membersOf(declaration).filter(({ name }) => !hasComment(declaration, name)),
]);
for (const { file, text } of new Set(undocumented)) {
  const source = relative(PACKAGES, file).replace('/dist/', '/src/').replace('.d.ts', '.ts');
  console.log(`packages/${source}: "${text.trim()}" has no doc comment`);
}
if (undocumented.length > 0) process.exitCode = 1;
