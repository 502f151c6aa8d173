import type { ASTNode, Collection, JSCodeshift, ObjectExpression, ObjectMethod, ObjectProperty } from 'jscodeshift';
import { environmentOf, type FunctionNode, wrapResults } from './values.js';

/** An option in an object literal, which a method may be. */
type Option = ObjectProperty | ObjectMethod;

/** What the translation of one file needs. */
export interface Migration {
  readonly j: JSCodeshift;
  readonly root: Collection;
  /** Reports what a person has to translate. */
  report(node: ASTNode, text: string): void;
  addImport(name: string, from: string): void;
  /** Translates the object literal that an expression is, or that its variable has. Returns whether there is one. */
  isTranslated(node: ASTNode): boolean;
}

/** Returns the options that replace one, or why it stays as it is. */
export type Rule = (option: Option, migration: Migration) => readonly Option[] | string;

export type Rules = Readonly<Record<string, Rule>>;

export const same: Rule = (option) => [option];

/** Keeps an option, and reports what it changes. */
export const sameWith =
  (change: string): Rule =>
  (option, { report }) => {
    if (literalOf(option) !== false) report(option, change);
    return [option];
  };

/** Renames an option. */
export const rename =
  (name: string): Rule =>
  (option, { j }) => {
    option.key = j.identifier(name);
    if (option.type === 'ObjectProperty') option.shorthand = isNamed(option, name);
    return [option];
  };

/** Renames an option whose functions take the request alone. */
export const renameFunction =
  (name: string): Rule =>
  (option, migration) => {
    if (parametersOf(option) === undefined) return `\`${name}\` must be a function of the request. Check it by hand`;
    if (!takesAtMost(1, option, migration)) return `\`${name}\` gets other arguments`;
    return rename(name)(option, migration);
  };

/** The function that an option is, or that a name in this file has. */
export function functionOf(option: Option, { root, j }: Migration): FunctionNode | undefined {
  if (option.type === 'ObjectMethod') return option;
  const { value } = option;
  const isFunction = (node: ASTNode | null | undefined) =>
    node?.type === 'ArrowFunctionExpression' || node?.type === 'FunctionExpression'
      ? (node as FunctionNode)
      : undefined;
  if (value.type !== 'Identifier') return isFunction(value);
  const [declared] = root.find(j.FunctionDeclaration, { id: { name: value.name } }).nodes();
  return declared ?? isFunction(root.find(j.VariableDeclarator, { id: { name: value.name } }).nodes()[0]?.init);
}

/**
 * Renames a function of the request, and makes it return a boolean or a text. A named function is called by a new one, because
 * other code may use it, too.
 */
export const renameResult =
  (name: string, kind: 'boolean' | 'text', parameters = 1): Rule =>
  (option, migration) => {
    const { j, report } = migration;
    const found = functionOf(option, migration);
    if (found === undefined) return `\`${name}\` must be a function that returns a ${kind}. Check it by hand`;
    if (option.type === 'ObjectProperty' && option.value.type === 'Identifier') {
      if (found.params.length > parameters) return `\`${name}\` gets other arguments`;
      const given = found.params.map((_, index) => j.identifier(['request', 'response'][index]!));
      option.value = j.arrowFunctionExpression(given, j.callExpression(option.value, given));
    } else if (!takesAtMost(parameters, option, migration)) return `\`${name}\` gets other arguments`;
    const missing = wrapResults(j, functionOf(option, migration)!, kind);
    if (kind === 'text' && missing.length > 0) {
      report(
        option,
        `\`${name}\` may be missing. Such requests share the key "undefined", as before. For them, return \`clientKey()\`, which is the second argument`,
      );
    }
    return rename(name)(option, migration);
  };

/** Whether an option is text from the environment. */
export const isFromEnvironment = (option: Option, { root, j }: Migration): boolean =>
  option.type === 'ObjectProperty' && environmentOf(root, j, option.value) !== undefined;

/** Whether an option is this name. */
export const isNamed = (option: Option, name: string): boolean =>
  option.type === 'ObjectProperty' && option.value.type === 'Identifier' && option.value.name === name;

/** Turns a number that the environment gives as text into a number. `unset` is the old default. */
export const renameNumber =
  (name: string, unset: number): Rule =>
  (option, migration) => {
    const { root, j } = migration;
    const isName = option.type === 'ObjectProperty' && option.value.type === 'Identifier';
    if (isName && (functionOf(option, migration)?.params.length ?? 0) > 1) return `\`${name}\` gets other arguments`;
    const source = option.type === 'ObjectProperty' ? environmentOf(root, j, option.value) : undefined;
    if (option.type === 'ObjectProperty' && source !== undefined) {
      const value = option.value as Parameters<typeof j.logicalExpression>[1];
      const given = source === 'unset' ? j.logicalExpression('??', value, j.numericLiteral(unset)) : value;
      option.value = j.callExpression(j.identifier('Number'), [given]);
    }
    return (parametersOf(option) === undefined ? rename : renameFunction)(name)(option, migration);
  };

/** Keeps an option whose functions take no more than some arguments. */
export const sameWithin =
  (count: number, reason: string): Rule =>
  (option, migration) =>
    parametersOf(option) === undefined || takesAtMost(count, option, migration) ? [option] : reason;

/** Replaces an option that is `true` or `false` by another option. */
export const flag =
  (name: string, ofTrue: string | undefined, ofFalse: string | undefined): Rule =>
  (option, { j }) => {
    const value = literalOf(option);
    if (typeof value !== 'boolean') return 'its value is not a literal';
    const text = value ? ofTrue : ofFalse;
    return text === undefined ? [] : [j.objectProperty(j.identifier(name), j.stringLiteral(text))];
  };

/** Keeps an option that has no counterpart. */
export const untranslated =
  (reason: string): Rule =>
  () =>
    reason;

/** The value of an option that is a literal; `undefined` for any other. */
export function literalOf(option: Option): unknown {
  if (option.type !== 'ObjectProperty') return undefined;
  const { value } = option;
  if (value.type === 'StringLiteral' || value.type === 'NumericLiteral' || value.type === 'BooleanLiteral') {
    return value.value;
  }
  return undefined;
}

/** The parameters of an option that is a function; `undefined` for any other. */
export function parametersOf(option: Option): ASTNode[] | undefined {
  if (option.type === 'ObjectMethod') return option.params;
  const { value } = option;
  const isFunction = value.type === 'ArrowFunctionExpression' || value.type === 'FunctionExpression';
  return isFunction ? value.params : undefined;
}

/** Drops the unused parameters at the end of a function. Returns whether at most `count` remain. */
export function takesAtMost(count: number, option: Option, { j }: Migration): boolean {
  const parameters = parametersOf(option)!;
  const isUnused = (parameter: ASTNode) =>
    parameter.type === 'Identifier' && j(option).find(j.Identifier, { name: parameter.name }).length === 1;
  while (parameters.length > count && isUnused(parameters.at(-1)!)) parameters.pop();
  return parameters.length <= count;
}

function nameOf({ key, computed }: Option): string | undefined {
  if (key.type === 'StringLiteral') return key.value;
  return key.type === 'Identifier' && !computed ? key.name : undefined;
}

export function findOption(options: ObjectExpression, name: string): Option | undefined {
  return options.properties.find((option): option is Option => isOption(option) && nameOf(option) === name);
}

const isOption = (node: ASTNode): node is Option => node.type === 'ObjectProperty' || node.type === 'ObjectMethod';

/** Adds an option that Rollgate requires, unless one of these names sets it. */
export function addDefault(options: ObjectExpression, names: readonly string[], value: number, { j }: Migration): void {
  const isSet = options.properties.some((option) => isOption(option) && names.includes(nameOf(option) ?? ''));
  // It comes first, so that an object that is spread may set it, too.
  if (!isSet) options.properties.unshift(j.objectProperty(j.identifier(names[0]!), j.numericLiteral(value)));
}

/** Translates an object literal in place. What it cannot translate stays, so that Rollgate names it at startup. */
export function translateOptions(options: ObjectExpression, rules: Rules, migration: Migration): void {
  options.properties = options.properties.flatMap((option): ObjectExpression['properties'] => {
    const name = isOption(option) ? nameOf(option) : undefined;
    if (option.type === 'SpreadElement') {
      if (!migration.isTranslated(option.argument))
        migration.report(
          option,
          'An object that is spread was not translated. Rename its options where they come from',
        );
      return [option];
    }
    if (!isOption(option) || name === undefined) {
      migration.report(option, 'Options without a literal name were not translated');
      return [option];
    }
    const rule = Object.hasOwn(rules, name) ? rules[name]! : untranslated('it is not a known option');
    const translated = rule(option, migration);
    if (typeof translated !== 'string') return [...translated];
    migration.report(option, `\`${name}\` was not translated: ${translated}`);
    return [option];
  });
}
