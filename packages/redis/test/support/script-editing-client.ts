import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { IoredisClient } from '@rollgate/redis';
import type { Redis } from 'ioredis';

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex');

/** Creates a client that sends each script as `edit` returns it. */
export function createScriptEditingClient(client: Redis, edit: (script: string) => string): IoredisClient {
  const editedShas = new Map<string, string>();
  const edited = {
    status: 'ready',
    options: {},
    evalsha: async (sha: string, ...rest: [number, ...string[]]) => {
      if (!editedShas.has(sha)) throw new Error('NOSCRIPT');
      return client.evalsha(editedShas.get(sha)!, ...rest);
    },
    eval: (script: string, ...rest: [number, ...string[]]) => {
      const edited = edit(script);
      editedShas.set(sha1(script), sha1(edited));
      return client.eval(edited, ...rest);
    },
    scan: client.scan.bind(client),
  };
  return edited;
}

/** Replaces parts that each script must contain. */
export function replaceParts(
  ...replacements: readonly (readonly [part: string, replacement: string])[]
): (script: string) => string {
  return (script) =>
    replacements.reduce((text, [part, replacement]) => {
      assert(text.includes(part), `Expected the script to contain ${part}`);
      return text.replaceAll(part, replacement);
    }, script);
}
