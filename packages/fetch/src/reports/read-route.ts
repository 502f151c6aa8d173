import type { CallRequest, Dialect } from '../dialects/dialect.js';
import { warnOfError } from '../warn-of-error.js';

/** Returns the route of a call in the first dialect that knows routes. If that one throws, the call has none. */
export function readRoute(dialects: readonly Dialect[], request: CallRequest): string {
  const dialect = dialects.find(({ routeOf }) => routeOf !== undefined);
  try {
    return dialect?.routeOf?.(request) ?? '';
  } catch (error) {
    const message = `The dialect \`${dialect!.name}\` failed on a request, so the call counts as one without a route`;
    warnOfError('ROLLGATE_DIALECT_FAILED', message, error);
    return '';
  }
}
