import type { HeaderEditor } from './adapter.js';

/** On a response, the value of `Cache-Control` from before the rejection. */
const previousCacheControl = Symbol('previous Cache-Control');

type WithPrevious = { [previousCacheControl]?: unknown };

/** Call it before the headers of a rejection are written, because these replace `Cache-Control`. */
export function rememberCacheControl<Response>({ getHeader }: HeaderEditor<Response>, response: Response): void {
  const before = getHeader(response, 'cache-control'); // No framework has to convert lowercase.
  if (before !== undefined) (response as WithPrevious)[previousCacheControl] = before;
}

/** Removes the headers of a rejection, because the request continues after all or has failed. */
export function withdrawRejection<Response>(headers: HeaderEditor<Response>, response: Response): void {
  const before = (response as WithPrevious)[previousCacheControl];
  headers.removeHeader(response, 'Retry-After');
  if (before === undefined) headers.removeHeader(response, 'Cache-Control');
  else headers.getSetHeader(response).call(response, 'Cache-Control', String(before));
}
