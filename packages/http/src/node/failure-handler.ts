import { toError } from '../base/to-error.js';
import { CLIENT_DISCONNECTED } from '../gate/request-decider.js';
import type { ResolvedOptions } from '../options/resolve-options.js';
import type { Next } from './decision-actions.js';
import type { Framework } from './framework.js';
import { endIfStarted } from './response-lifecycle.js';

/** Handles the failure of an option function or the store, so that no failure allows a request by accident. */
export class FailureHandler<Response> {
  readonly #framework: Framework<never, Response>;
  readonly #options: ResolvedOptions<never, Response>;

  constructor(framework: Framework<never, Response>, options: ResolvedOptions<never, Response>) {
    this.#framework = framework;
    this.#options = options;
  }

  /** Passes the error to the framework's error handling. In a dry run, continues with the request and warns instead. */
  handle(response: Response, next: Next, thrown: unknown): void {
    if (thrown === CLIENT_DISCONNECTED) return;
    if (this.#options.dryRun) {
      this.#options.usageChecks.reportFailure('ROLLGATE_DRY_RUN_FAILED', thrown);
      next();
      return;
    }
    const { logErrorAfterStart, getNodeResponse } = this.#framework;
    const error = toError(thrown);
    if (logErrorAfterStart !== undefined && endIfStarted(getNodeResponse(response)))
      logErrorAfterStart(response, error);
    else next(error);
  }

  /** Does the same, unless other code has sent a response since. */
  handleUnlessSent(response: Response, next: Next, thrown: unknown): void {
    if (!this.#framework.isResponseSent(response)) this.handle(response, next, thrown);
  }
}
