/** Returns the parsed JSON of a response, whose body the caller can still read. Other bodies are `undefined`. */
export async function readBody(response: Response): Promise<unknown> {
  if (!/\bjson\b/i.test(response.headers.get('content-type') ?? '')) return undefined;
  try {
    return await response.clone().json();
  } catch {
    return undefined; // Not JSON, or the connection broke. In that case, the caller gets the error when it reads the body.
  }
}
