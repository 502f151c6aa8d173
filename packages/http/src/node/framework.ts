import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { Host } from '../base/host.js';

/** Node's response object, which every framework wraps or extends. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** A host whose responses are Node's: how to inspect and change a response that other code may have started. */
export interface Framework<Request, Response> extends Host<Request, Response> {
  /** Removes a header of the response. */
  readonly removeHeader: (response: Response, name: string) => void;
  /** Whether the whole response was handed over, or other code has taken it over. False if the response has only started. */
  readonly isResponseSent: (response: Response) => boolean;
  /** Logs an error after the response has started. For frameworks whose error handling cannot end such a response. */
  readonly logErrorAfterStart?: (response: Response, error: Error) => void;
  /** Returns Node's response object behind the framework's. */
  readonly getNodeResponse: (response: Response) => NodeResponse;
}
