import { hideStore, toError } from '../errors/errors.js';

/** Throws on what a limiter threw, without what clients must not see of a store. Other rate limiters pass on any error. */
export function throwHidden(thrown: unknown): never {
  throw hideStore(toError(thrown));
}
