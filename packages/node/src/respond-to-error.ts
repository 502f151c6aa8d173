import { STATUS_CODES } from 'node:http';
import { endResponse, type HttpError, statusOf } from '@rollgate/http';
import type { Request, Response } from './options.js';

/** Headers that describe a body, or how to send or cache it. They belong to the response that the handler gave up. */
const HEADERS_OF_BODY = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Language',
  'Content-Location',
  'Content-Range',
  'ETag',
  'Expires',
  'Last-Modified',
  'Trailer',
  'Transfer-Encoding',
];

/**
 * Responds to an error with its status, or else with 500. Logs it, and hides its message from the client, unless it has
 * `expose`. A response that was sent stays as it is, and one that has only started is cut off.
 */
export function respondToError(error: HttpError, _request: Request, response: Response): void {
  if (error.expose !== true) console.error(error);
  if (response.writableEnded) return;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status = statusOf(error) ?? 500;
  const body = error.expose === true ? error.message : (STATUS_CODES[status] ?? 'Error');
  for (const name of HEADERS_OF_BODY) response.removeHeader(name);
  response.statusCode = status;
  response.setHeader('Cache-Control', 'no-store');
  endResponse(response, 'text/plain; charset=utf-8', body);
}
