import type { Decision } from '@rollgate/core';

/** The values of a property of requests, and the prototypes that have it. */
interface RequestProperty {
  readonly values: WeakMap<object, unknown>;
  readonly prototypes: WeakSet<object>;
}

/** By name, because several limiters may use one name. */
const properties = new Map<string, RequestProperty>();

/**
 * Creates the function that sets the decision of a request as a property with this name.
 *
 * Express replaces the prototype of each request, which gives each request its own hidden class. A new property copies that
 * class, which takes about as long as all else that the limiter does. So the property is an accessor of
 * `express.request`, from which the requests of all apps inherit.
 */
export function createAttachDecision(name: string): (request: object, decision: Decision) => void {
  const property = properties.get(name) ?? { values: new WeakMap(), prototypes: new WeakSet() };
  properties.set(name, property);

  return function attachDecision(request, decision) {
    const prototype: object = Object.getPrototypeOf(request);
    const isInherited = property.prototypes.has(prototype) || addAccessor(name, property, prototype);
    if (isInherited && !Object.hasOwn(request, name)) property.values.set(request, decision);
    else Object.assign(request, { [name]: decision });
  };
}

/** Adds the property to this prototype of requests. Returns `false` if it is not one of an app, or if the name is taken. */
function addAccessor(name: string, { values, prototypes }: RequestProperty, prototype: object): boolean {
  const owner = findSharedPrototype(prototype);
  if (owner === undefined) return false;
  if (!prototypes.has(owner)) {
    if (name in prototype || !Reflect.defineProperty(owner, name, createAccessor(values))) return false;
    prototypes.add(owner);
  }
  prototypes.add(prototype);
  return true;
}

function createAccessor(values: RequestProperty['values']): PropertyDescriptor & ThisType<object> {
  return {
    configurable: true,
    get() {
      // An object that inherits from the request has its property, too.
      for (let object: object | null = this; object !== null; object = Object.getPrototypeOf(object)) {
        if (values.has(object)) return values.get(object);
      }
      return undefined;
    },
    set(value) {
      values.set(this, value);
    },
  };
}

/**
 * Returns `express.request`, from which each `app.request` inherits. A request changes between those of several apps. Returns
 * `undefined` if this is not a prototype of an app's requests.
 */
function findSharedPrototype(prototype: object): object | undefined {
  let object = prototype;
  while (Object.hasOwn(object, 'app')) object = Object.getPrototypeOf(object);
  return object === prototype ? undefined : object;
}
