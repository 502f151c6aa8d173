/**
 * Returns a weak reference. On platforms without `WeakRef`, such as Cloudflare Workers with a compatibility date before
 * May 2025, it keeps the target from being collected.
 */
export function referWeakly<Target extends object>(target: Target): Pick<WeakRef<Target>, 'deref'> {
  return typeof WeakRef === 'undefined' ? { deref: () => target } : new WeakRef(target);
}
