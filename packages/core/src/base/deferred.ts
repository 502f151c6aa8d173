/** Returns a promise and the function that resolves it, like `Promise.withResolvers`, which Node 20 lacks. */
export function createDeferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
