/** Whether `fetch` has rejected its arguments, so that it has sent nothing. */
export function isInvalidCall(error: unknown, url: URL, args: Parameters<typeof fetch>): boolean {
  try {
    const { name, cause } = error as { name?: unknown; cause?: { code?: unknown } };
    if (name !== 'TypeError') return false;
    if (!/^https?:$/.test(url.protocol)) return cause?.code === undefined;
    return cause === undefined && !isValid(args); // Errors of a connection have a cause.
  } catch {
    return false; // A getter of the error has thrown.
  }
}

function isValid(args: Parameters<typeof fetch>): boolean {
  try {
    return new Request(...args) !== undefined;
  } catch {
    return false;
  }
}
