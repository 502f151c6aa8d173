import type { Limit } from '../limits/limit.js';
import type { RollingWindow } from '../limits/rolling-window.js';

// The types of the keys and limits that callers pass.

/**
 * One limit, which gets the name `default`, or a record of limits by name. Text such as `'100/1m'` or `'100/m'` is a rolling window:
 * units per duration.
 */
export type Limits<Name extends string = string> = Limit | string | Readonly<Record<Name, Limit | string>>;

/** Limits without text. */
export type ParsedLimits<Name extends string = string> = Limit | Readonly<Record<Name, Limit>>;

/** The names of the limits: the record's keys, or `default`. */
export type NameOf<Given extends Limits> = Given extends Limit | string ? 'default' : keyof Given & string;

/** The names of limits that some plans lack, if `Given` is the union of several plans. */
export type MissingNameOf<Given extends Limits> =
  string extends NameOf<Given> ? never : MissingIn<Given, NameOf<Given>>;

/** In a union of literals, TypeScript adds the names that one of them lacks as optional ones. */
type MissingIn<Plan extends Limits, Name extends string> = Plan extends Limit | string
  ? Exclude<Name, 'default'>
  : Exclude<Name, { [Own in keyof Plan]: undefined extends Plan[Own] ? never : Own }[keyof Plan]>;

/**
 * The key of one limit: text, or a number such as the ID of a user, which counts like its text. An integer above 2^53 - 1 is an error,
 * because it shares its number with others. Pass it as text or as a bigint.
 */
export type OneKey = string | number | bigint;

/** One key for all limits, or one key per limit name. */
export type Key<Name extends string = string> = OneKey | Readonly<Record<Name, OneKey>>;

/** One key for all limits, or one key for each of some limits. */
export type SomeKeys<Name extends string = string> =
  | OneKey
  | { [One in Name]: Readonly<Record<One, OneKey> & Partial<Record<Name, OneKey>>> }[Name];

/** Rejects the names in a record of keys that no limit has, because a type that is inferred from a record accepts any. */
export type WithoutOthers<Keys, Name extends string> = Keys extends OneKey
  ? unknown
  : { readonly [Other in Exclude<keyof Keys, Name>]: never };

/** The names of the limits for which there are keys. One key is for all of them. */
export type NameIn<Keys, Name extends string> = Keys extends OneKey ? Name : keyof Keys & Name;

/** The names of those whose keys may be absent. */
export type OptionalNameIn<Keys, Name extends string> = Keys extends OneKey
  ? never
  : { [One in keyof Keys]: undefined extends Keys[One] ? One : never }[keyof Keys] & Name;

/** Limits with the names and algorithms of others, or a function that derives them. It gets rolling windows for text. */
export type LimitsFrom<Given extends Limits> = Counterpart<Given> | Derivation<Given>['derive'];

/** A method, because its parameter is bivariant: options with known limits are also options with any limits. */
interface Derivation<Given extends Limits> {
  derive(limits: Parsed<Given>): Counterpart<Given>;
}

/** The limits that text stands for. */
type Parsed<Given extends Limits> = Given extends Limit | string
  ? ParsedLimit<Given>
  : { readonly [Name in keyof Given]: ParsedLimit<Given[Name]> };

type ParsedLimit<One> = One extends string ? RollingWindow : One;

/** Limits that may take the place of these. Text may take that of a rolling window. */
type Counterpart<Given extends Limits> = Given extends Limit | string
  ? CounterpartOf<Given>
  : { readonly [Name in keyof Given]: CounterpartOf<Given[Name]> };

type CounterpartOf<One> = One extends string ? RollingWindow | string : RollingWindow extends One ? One | string : One;
