import type { Framework } from './framework.js';

/** On a response, the value of `Cache-Control` from before the rejection. */
const previousCacheControl = Symbol('previous Cache-Control');

/** Call it before the headers of a rejection are written, because these replace `Cache-Control`. */
export function rememberCacheControl<Response>({ getHeader }: Framework<never, Response>, response: Response): void {
  const before = getHeader(response, 'cache-control'); // No framework has to convert lowercase.
  if (before !== undefined) (response as { [previousCacheControl]?: unknown })[previousCacheControl] = before;
}

/** Removes the headers of a rejection, because the request continues after all or has failed. */
export function withdrawRejection<Response>(framework: Framework<never, Response>, response: Response): void {
  const before = (response as { [previousCacheControl]?: unknown })[previousCacheControl];
  framework.removeHeader(response, 'Retry-After');
  if (before === undefined) framework.removeHeader(response, 'Cache-Control');
  else framework.setHeader(response, 'Cache-Control', String(before));
}
