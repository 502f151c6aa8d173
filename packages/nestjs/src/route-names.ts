import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { invalidOption } from '@rollgate/core/store';
import { RATE_LIMIT } from './decorators.js';
import type { RateLimitOptions } from './options.js';

/** A method of a controller, resolver or gateway. */
export type Handler = (...args: never[]) => unknown;

/** Returns the options of a decorated class or method, or `false` for `@SkipRateLimit`. */
export function readMetadata(target: object): RateLimitOptions | false | undefined {
  return Reflect.getMetadata(RATE_LIMIT, target);
}

/**
 * Returns the name of a class's count, or of one of its methods. It is part of the keys in the store, so it is the same in all
 * processes.
 *
 * If several controllers of the app would have the name, it contains the module and the path of its controller.
 */
export function nameCount(type: Type, method: Handler | undefined, modules: ModulesContainer | undefined): string {
  const name = method === undefined ? '' : `.${nameMethod(type, method)}`;
  const controllers = [...(modules?.values() ?? [])].flatMap((module) =>
    [...module.controllers.values()].map(({ metatype }) => ({ controller: metatype as Type, module: module.name })),
  );
  const isShared = controllers.some(
    ({ controller }) =>
      controller !== type && controller.name === type.name && nameOwnCounts(controller).some((own) => own === name),
  );
  if (!isShared) return type.name + name;
  const moduleNames = controllers.filter(({ controller }) => controller === type).map(({ module }) => module);
  return `${type.name}@${[...moduleNames, ...locate(type)].join(' ')}${name}`;
}

/** @throws TypeError if the class has no method of this name. */
export function methodOf(type: Type, name: unknown): Handler {
  const method = methodsOf(type).find(([own]) => own === name)?.[1];
  if (method !== undefined) return method;
  throw invalidOption('method', `the name of a method of ${type.name}`, name);
}

/** Returns the methods of a class with their own limit. */
export function limitedMethods(type: Type): Handler[] {
  return methodsOf(type)
    .map(([, method]) => method)
    .filter(readMetadata);
}

/** What Nest sets on the methods of controllers, gateways and resolvers that it calls. */
const ROUTE_METADATA = ['path', 'websockets:message_mapping', 'graphql:resolver_type'];

/** Whether a class has a route without its own decorator. */
export function hasUndecoratedRoute(type: Type): boolean {
  return methodsOf(type).some(
    ([, method]) =>
      readMetadata(method) === undefined && ROUTE_METADATA.some((key) => Reflect.hasMetadata(key, method)),
  );
}

/** A decorator may have replaced the method by a function with another name, so the name is that of the property. */
export function nameMethod(type: Type, method: Handler): string {
  const names = methodsOf(type)
    .filter(([, own]) => own === method)
    .map(([name]) => name);
  return names.includes(method.name) ? method.name : (names[0] ?? method.name);
}

/** Returns the names of a class's counts without the class. Those with their own `prefix` need no name. */
function nameOwnCounts(type: Type): string[] {
  const ofClass = readMetadata(type);
  if (ofClass && ofClass.prefix !== undefined) return [];
  const methods = methodsOf(type).filter(([, method]) => {
    const options = readMetadata(method);
    return options && options.prefix === undefined;
  });
  return [...(ofClass ? [''] : []), ...methods.map(([name]) => `.${name}`)];
}

/** The methods of a class, and those that it inherits and does not override, without calling getters. */
function methodsOf(type: Type): [name: string, method: Handler][] {
  const values = new Map<string, unknown>();
  for (let prototype = type.prototype; prototype; prototype = Object.getPrototypeOf(prototype)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (name !== 'constructor' && !values.has(name)) values.set(name, value);
    }
  }
  return [...values].filter((entry): entry is [string, Handler] => typeof entry[1] === 'function');
}

/** Returns what `@Controller` has set. */
function locate(controller: Type): string[] {
  return ['host', '__version__', 'path']
    .flatMap((key) => Reflect.getMetadata(key, controller))
    .filter((value) => value !== undefined)
    .map(String);
}
