/**
 * Returns an object that is like `target` but for some members. Its methods run on `target`, because a proxy lacks the private fields
 * that those of a class may use.
 */
export function withMembers<Target extends object>(
  target: Target,
  own: { [Name in keyof Target]?: Target[Name] | undefined },
): Target {
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof Target];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
