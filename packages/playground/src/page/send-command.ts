/** Asks the server to change something. Resolves to what went wrong, in words; to `undefined` when nothing did. */
export async function sendCommand(path: string, request: RequestInit): Promise<string | undefined> {
  try {
    const response = await fetch(path, { ...request, priority: 'high' });
    return response.ok ? undefined : await detailOf(response);
  } catch {
    return 'The server does not respond.';
  }
}

/** Problems are told by RFC 9457; what stands between here and the server may tell them otherwise. */
async function detailOf(response: Response): Promise<string> {
  const status = `${response.status} ${response.statusText}`;
  const body: unknown = await response.json().catch(() => undefined);
  const detail = (body as { detail?: unknown } | null | undefined)?.detail;
  return typeof detail === 'string' ? `${detail} (${status})` : `The server returned ${status}.`;
}
