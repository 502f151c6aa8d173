// A fake of a language model's API. It streams as many words as the prompt requests, such as "Write 20 words".
import { setTimeout as delay } from 'node:timers/promises';

/** One token of the text; in the last part of the stream, the tokens that the call has used. */
export type Part = { readonly text: string } | { readonly usage: { readonly totalTokens: number } };

const { TOKEN_MS = '50' } = process.env;

/** A rough count, as clients make it that lack the model's tokenizer. */
export const estimateTokens = (text: string) => Math.ceil(text.length / 4);

/** Streams the reply to a prompt, until the signal aborts. An aborted call reports no usage, as with most providers. */
export async function* complete(prompt: string, signal: AbortSignal): AsyncGenerator<Part> {
  const words = Number(/\d+/.exec(prompt)?.[0] ?? 10);
  for (let count = 1; count <= words; count++) {
    await delay(Number(TOKEN_MS), undefined, { signal });
    yield { text: `word ${count} ` };
  }
  yield { usage: { totalTokens: estimateTokens(prompt) + words } };
}
