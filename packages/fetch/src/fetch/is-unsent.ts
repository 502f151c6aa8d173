/** The errors of a connection that was never made. */
const CODES = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];

/** Whether a request surely has not reached the server, so that it cannot have used any quota. */
export function isUnsent(error: unknown): boolean {
  const { code, cause, errors } = (error ?? {}) as { code?: unknown; cause?: unknown; errors?: unknown };
  if (CODES.includes(code as string)) return true;
  if (Array.isArray(errors) && errors.length > 0) return errors.every(isUnsent); // One for each address of the host.
  return cause !== undefined && isUnsent(cause);
}
