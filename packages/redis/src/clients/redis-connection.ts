import type { StoreConnection } from '@rollgate/core/store';
import type { Script } from '../script/script-builder.js';

/** The same interface for every client. */
export interface RedisConnection {
  readonly isCluster: boolean;
  /** The prefix that the client adds to every key. */
  readonly keyPrefix: string;
  /** Whether the client may send a command again that Redis has executed, because the connection broke before the reply. */
  readonly mayResend: boolean;
  /** The address of the node that owns a slot of a Cluster; empty if the client does not know it. */
  nodeOf(slot: number): string;
  /** The state of the client's connection. For a Cluster, `node` is the address of a node. */
  healthOf(node: string): StoreConnection;
  /** Whether the slot of the key moves, and the client reports only the script's error. Only GLIDE does that. */
  hidesMove?(error: unknown, key: string): Promise<boolean>;
  evalSha(sha: string, keys: string[], values: string[]): Promise<unknown>;
  eval(script: string, keys: string[], values: string[]): Promise<unknown>;
}

/** The error of a server that does not know a script. GLIDE has its own text for it. */
const UNKNOWN_SCRIPT = /^NOSCRIPT|\bNoScriptError\b/;

/** Runs the script. Sends its text only to a server that does not know it. */
export async function runScript(
  connection: RedisConnection,
  { sha, text }: Script,
  keys: string[],
  values: string[],
): Promise<unknown> {
  try {
    return await connection.evalSha(typeof sha === 'string' ? sha : await sha, keys, values);
  } catch (error) {
    if (!(error instanceof Error) || !UNKNOWN_SCRIPT.test(error.message)) throw error;
    return await connection.eval(text, keys, values);
  }
}
