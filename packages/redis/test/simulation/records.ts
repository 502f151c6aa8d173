import type { Decision } from '@rollgate/core';
import type { ModelReceipt, Specs } from '../../../store-conformance/src/reference-model.js';

/** One limit of a call: its name and the key. Also the names that the model knows it by. */
export interface Subject {
  readonly specs: Specs;
  readonly keys: Readonly<Record<string, string>>;
}

/** What the model says that an operation came to. */
export interface Result {
  readonly decision: Decision | undefined;
  readonly receipt: ModelReceipt;
  /** Its place among all operations. */
  readonly count: number;
}

/** One run of a message's script by the server. */
export interface Execution {
  readonly message: Message;
  /** What it did: the first of the calls in the message. */
  readonly calls: readonly StoreCall[];
  readonly value: unknown;
  /** By the server's clock. */
  readonly serverMicros: number;
  readonly expired: readonly string[];
  results: readonly Result[];
  /** Whether the server has lost what it wrote. */
  isLost: boolean;
  /** Whether the model could not say what it has to come to. */
  isVague: boolean;
}

/** One call of a store's method by a limiter. */
export interface StoreCall {
  readonly kind: 'check' | 'peek' | 'refund' | 'reset';
  readonly cost: number;
  /** How many keys it has in Redis. */
  readonly keyCount: number;
  /** What the model needs to know. */
  readonly subject: Subject;
  /** Of a refund, the check that is taken back. */
  readonly refunded: StoreCall | undefined;
  readonly startedMicros: number;
  /** When it was answered or failed. */
  settledMicros: number | undefined;
  decision: Decision | undefined;
  error: unknown;
  /** Whether the denial cache answered. */
  isFromCache: boolean;
  /** Its place in its message; -1 while it was not sent. */
  indexInMessage: number;
  /** The run of the message whose reply answered it. */
  execution: Execution | undefined;
}

/** A script that a client sends, perhaps several times. */
export interface Message {
  /** The text is known once it was sent by EVAL. */
  readonly sha: string;
  readonly text: string | undefined;
  readonly keys: readonly string[];
  readonly argument: string;
  /** What travels in it, in its order. */
  readonly calls: readonly StoreCall[];
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}
