import { types } from 'node:util';

type Input = Parameters<typeof fetch>[0];
type Init = NonNullable<Parameters<typeof fetch>[1]>;
type Body = NonNullable<Init['body']>;

/** The options that `fetch` reads by their names. Getters of a class, and others that cannot be enumerated, are among them. */
const OPTIONS = [
  ...['body', 'cache', 'credentials', 'dispatcher', 'duplex', 'headers', 'integrity', 'keepalive', 'method', 'mode'],
  ...['priority', 'redirect', 'referrer', 'referrerPolicy', 'signal', 'window'],
];

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

/** Copies the options and the headers. A getter runs once. */
export function copyInit(init: Init): Init {
  const given = init as Readonly<Record<string, unknown>>;
  const copy: { [name: string]: unknown; headers?: unknown } = {};
  // A function passed as `fetch` may have other options. Inherited ones count, because the options may be a `Request`.
  for (const name in given) copy[name] = given[name];
  for (const name of OPTIONS) {
    const value = name in copy ? undefined : given[name];
    if (value !== undefined) copy[name] = value;
  }
  const { headers } = copy as Init;
  if (headers != null) copy.headers = copyHeaders(headers);
  return copy as Init;
}

function copyHeaders(headers: NonNullable<Init['headers']>): Init['headers'] {
  if (headers instanceof Headers) return new Headers(headers);
  if (!(Symbol.iterator in headers)) return { ...headers };
  // What is not a pair stays so, for `Headers` to reject it.
  const copyPair = (pair: unknown) => (typeof pair === 'object' && pair !== null ? [...(pair as [])] : pair);
  return Array.from(headers as Iterable<unknown>, copyPair) as [string, string][];
}

/** Copies a body that can be sent again. Returns `undefined` for another one, such as a stream. */
export function copyBody(body: Body | null | undefined): Body | undefined {
  if (body instanceof URLSearchParams) return new URLSearchParams(body);
  if (types.isArrayBuffer(body)) return body.slice(0); // Perhaps of another realm.
  if (ArrayBuffer.isView(body) && !types.isSharedArrayBuffer(body.buffer))
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
  if (isForm(body)) return copyForm(body);
  return typeof body === 'string' || isNamed(body, 'URLSearchParams', 'Blob', 'File') ? body! : undefined;
}

/** A form of the package `form-data` is a Node stream. */
function isForm(body: unknown): body is FormData {
  return isNamed(body, 'FormData') && Symbol.iterator in (body as object);
}

/** A class of the user may need arguments. */
function copyForm(form: FormData): FormData {
  const copy = new (form instanceof FormData ? FormData : ((form as FormData).constructor as typeof FormData))();
  for (const [name, value] of form as unknown as Iterable<[string, string]>) copy.append(name, value);
  return copy;
}
