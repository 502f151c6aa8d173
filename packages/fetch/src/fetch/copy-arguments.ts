type Input = Parameters<typeof fetch>[0];
type Init = NonNullable<Parameters<typeof fetch>[1]>;
type Body = NonNullable<Init['body']>;

/** Whether a value is of this class of the platform. undici has its own classes with the same names. */
export function isNamed(value: unknown, ...names: string[]): boolean {
  const { [Symbol.toStringTag]: name } = Object(value) as { [Symbol.toStringTag]?: string };
  return name !== undefined && names.includes(name);
}

export function isRequest(value: unknown): value is Request {
  return isNamed(value, 'Request');
}

/**
 * Copies what `fetch` gets, because it is sent later, and perhaps again, while the caller may change it. Streams cannot be copied.
 * The body of a `Request` moves into the copy, as it does with `fetch`.
 *
 * @throws TypeError if the body of the `Request` has been read.
 */
export function copyInput(input: Input, init: Init | undefined): Input {
  if (isRequest(input)) {
    const Copy = input instanceof Request ? Request : ((input as Request).constructor as typeof Request);
    // A body in `init` replaces that of the request, which stays the caller's.
    return new Copy(input, input.body && init?.body != null ? { body: new Uint8Array() } : undefined);
  }
  return input instanceof URL ? new URL(input) : String(input);
}

/** Copies the options, the headers and the body. */
export function copyInit(init: Init): Init {
  const copy: { [name: string]: unknown; headers?: unknown; body?: unknown } = {};
  // Inherited ones count, because the options may be a `Request`.
  for (const name in init) copy[name] = init[name as keyof Init];
  if (init.headers != null) copy.headers = copyHeaders(init.headers);
  if (init.body != null) copy.body = copyBody(init.body);
  return copy as Init;
}

function copyHeaders(headers: NonNullable<Init['headers']>): Init['headers'] {
  if (headers instanceof Headers) return new Headers(headers);
  if (!(Symbol.iterator in headers)) return { ...headers };
  return Array.from(headers as Iterable<[string, string]>, ([name, value]) => [name, value]);
}

function copyBody(body: Body): Body {
  if (body instanceof URLSearchParams) return new URLSearchParams(body);
  if (body instanceof ArrayBuffer) return body.slice(0);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
  return isNamed(body, 'FormData') ? copyForm(body as FormData) : body;
}

function copyForm(form: FormData): FormData {
  const copy = new (form.constructor as typeof FormData)();
  for (const [name, value] of form as unknown as Iterable<[string, string]>) copy.append(name, value);
  return copy;
}
