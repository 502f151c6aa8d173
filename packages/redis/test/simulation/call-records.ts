import type { Decision } from '@rollgate/core';
import type { Costs, SettledCosts } from '@rollgate/core/store';
import type { LimitSpecs, ModelReceipt } from '../../../store-conformance/src/reference-model.js';

/** The limits of a call with their keys, by the names of the limits. */
export interface Subject {
  readonly specs: LimitSpecs;
  readonly keys: Readonly<Record<string, string>>;
}

/** The result of an operation in the model. */
export interface Result {
  readonly decision: Decision | undefined;
  readonly receipt: ModelReceipt;
  /** Its number among all operations. */
  readonly count: number;
  /** Whether the server's clock was behind the newest change of a key. A refund may then find nothing. */
  readonly isBehind: boolean;
}

/** One run of a message's script by the server. */
export interface Execution {
  readonly message: Message;
  /** The calls that it executed: the first ones of the message. */
  readonly calls: readonly StoreCall[];
  readonly value: unknown;
  /** The time by the server's clock. */
  readonly serverMicros: number;
  readonly expired: readonly string[];
  results: readonly Result[];
  /** Whether the server has lost what it wrote. */
  isLost: boolean;
  /** Whether the documentation leaves its results undefined. */
  hasOpenResults: boolean;
}

/** One call of a store's method by a limiter. */
export interface StoreCall {
  readonly kind: 'check' | 'peek' | 'charge' | 'refund' | 'settle' | 'reset';
  readonly costs: Costs;
  /** How many Redis keys it has. */
  readonly keyCount: number;
  /** The limits and keys, for the model. */
  readonly subject: Subject;
  /** The check that a refund or settlement changes. */
  readonly settledCheck: StoreCall | undefined;
  /** What a settlement sets. */
  readonly settledCosts: SettledCosts;
  readonly startedMicros: number;
  /** When it got a response or failed. */
  settledMicros: number | undefined;
  decision: Decision | undefined;
  error: unknown;
  /** Whether the denial cache decided. */
  isFromCache: boolean;
  /** Its index in its message, or -1 before it is sent. */
  indexInMessage: number;
  /** The run of the message that replied to it. */
  execution: Execution | undefined;
}

/** A message that runs a script. A client may send it several times. */
export interface Message {
  /** Empty when the client sends the text, by EVAL. */
  readonly sha: string;
  readonly text: string | undefined;
  readonly keys: readonly string[];
  readonly values: readonly string[];
  /** The calls that it contains, in order. */
  readonly calls: readonly StoreCall[];
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}
