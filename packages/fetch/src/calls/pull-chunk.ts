/** Passes the next chunk of a stream on to another one, or its end. Rejects with the error of the first one. */
export async function pullChunk<Chunk>(
  reader: ReadableStreamDefaultReader<Chunk>,
  controller: ReadableStreamDefaultController<Chunk>,
): Promise<void> {
  const { done, value } = await reader.read();
  if (done) controller.close();
  else controller.enqueue(value);
}
