/** Returns a stream with the chunks of another one, the reader of that, and a function that ends the stream with an error. */
export function wrapStream<Chunk>(source: ReadableStream<Chunk>, strategy?: QueuingStrategy<Chunk>) {
  const reader = source.getReader();
  let fail = (_reason: unknown): void => {};
  const stream = new ReadableStream<Chunk>(
    {
      start: (controller) => {
        fail = (reason) => controller.error(reason);
      },
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    strategy,
  );
  return { stream, reader, fail };
}
