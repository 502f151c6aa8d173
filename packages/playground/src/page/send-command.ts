/** Sends a command to the server. Resolves to the error as text, or to `undefined`. */
export async function sendCommand(path: string, request: RequestInit): Promise<string | undefined> {
  try {
    const response = await fetch(path, { ...request, priority: 'high' });
    return response.ok ? undefined : await detailOf(response);
  } catch {
    return 'The server does not respond.';
  }
}

/** The server reports problems by RFC 9457. A proxy in front of it may report them in another way. */
async function detailOf(response: Response): Promise<string> {
  const status = `${response.status} ${response.statusText}`;
  const body: unknown = await response.json().catch(() => undefined);
  const detail = (body as { detail?: unknown } | null | undefined)?.detail;
  return typeof detail === 'string' ? `${detail} (${status})` : `The server returned ${status}.`;
}
