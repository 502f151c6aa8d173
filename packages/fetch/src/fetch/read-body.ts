import type { Clock } from '@rollgate/core';
import { scheduleAfter } from '@rollgate/core/store';

/** Of a longer body, nothing is read. */
const MAX_BYTES = 65_536;
/** For how long a call waits for a body. */
const MAX_MS = 5000;

/** Returns the parsed JSON of a response, whose body the caller can still read. Other and longer bodies are `undefined`. */
export async function readJson(response: Response, clock: Clock | undefined): Promise<unknown> {
  if (!/\bjson\b/i.test(response.headers.get('content-type') ?? '')) return undefined;
  let cancelTimer = () => {};
  try {
    const copy = readAside(response);
    cancelTimer = scheduleAfter(MAX_MS, () => copy.cancel(), clock);
    return JSON.parse(new TextDecoder().decode(await copy.bytes));
  } catch {
    return undefined; // Not JSON, or the connection broke. In that case, the caller gets the error when it reads the body.
  } finally {
    cancelTimer();
  }
}

interface BodyCopy {
  /** The bytes of the body. Fewer if it is canceled or too long. */
  readonly bytes: Promise<Uint8Array>;
  cancel(): void;
}

/** Reads the body of a response into memory, where the caller can read it, too. */
export function readAside(response: Response): BodyCopy {
  const reader = response.clone().body?.getReader();
  const cancel = () => void reader?.cancel().catch(() => {});
  return { bytes: readAll(reader, cancel), cancel };
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  cancel: () => void,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for (let size = 0; ; ) {
    const read = await reader?.read();
    if (read?.value === undefined) return Buffer.concat(chunks);
    chunks.push(read.value);
    size += read.value.length;
    if (size > MAX_BYTES) cancel();
  }
}
