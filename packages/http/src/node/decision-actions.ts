import type { Decision } from '@rollgate/core';

/** Continues with the request, or passes an error to the framework's error handling. Called once. */
export type Next = (error?: Error) => void;

/** What an adapter does with a decision. */
export interface Adapter<Request, Response> {
  /** Puts the decision on the request, where the app's handlers can read it. */
  attachDecision(request: Request, decision: Decision): void;
  /** Sends the response to a rejected request. Its headers are already set. */
  sendRejection(request: Request, response: Response, next: Next, decision: Decision): void;
}
