// The types of what a limiter's operations take and return.

import type { BlockNameOf } from '../blocks/blocking-limit.js';
import type { Decision } from '../decision/decision.js';
import type { Key, Limits, MissingNameOf, NameIn, NameOf, OptionalNameIn, SomeKeys } from '../plan/create-plan.js';

// TypeScript infers the names from the limits alone, not from the key or the expected decision.
export type KeyOn<Own extends Limits> = NoInfer<Key<NameOf<Own>>>;
export type SomeKeysOn<Own extends Limits> = NoInfer<SomeKeys<NameOf<Own>>>;
export type BlockKeysOn<Own extends Limits> = [BlockNameOf<Own>] extends [never]
  ? never
  : NoInfer<SomeKeys<BlockNameOf<Own>>>;
/** The decision of the limits for which there are keys. */
export type DecisionFor<Own extends Limits, Keys, Name extends string = NameOf<Own>> = NoInfer<
  Decision<NameIn<Keys, Name>, (MissingNameOf<Own> | OptionalNameIn<Keys, Name>) & NameIn<Keys, Name>>
>;
export type DecisionOn<Own extends Limits> = NoInfer<Decision<NameOf<Own>, MissingNameOf<Own>>>;
