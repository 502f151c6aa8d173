import type { SetField } from './header-fields.js';
import type { NodeResponse } from './hold.js';
import type { ResetUnit } from './options.js';

/** What differs from framework to framework. */
export interface Framework<Request, Response> {
  /** What errors call the adapter. */
  readonly name: string;
  /** The names of the options that only this adapter has. */
  readonly ownOptions: readonly string[];
  /** What `X-RateLimit-Reset` means to the framework's users. */
  readonly resetUnit: ResetUnit;
  /** The client's address, resolved through the proxies that the framework trusts. */
  readonly addressOf: (request: Request) => string | undefined;
  /** Whether the client has closed the connection, and nobody waits for an answer. */
  readonly hasLeft: (request: Request) => boolean;
  /** Whether the request has been answered already. */
  readonly isAnswered: (response: Response) => boolean;
  /** The response of Node's that the framework's stands for. */
  readonly nodeResponse: (response: Response) => NodeResponse;
  readonly setField: SetField<Response>;
  /** Whether the framework puts the names of fields in lower case. */
  readonly lowerCaseFields: boolean;
}
