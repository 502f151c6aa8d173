import { createHash } from 'node:crypto';
import { ALGORITHMS } from './algorithms.js';
import { lua } from './lua.generated.js';

/** How the hits of a key are kept: see the README for what each costs. */
export type Log = 'sorted-set' | 'list';

export const LOGS: readonly Log[] = ['sorted-set', 'list'];

/** What Redis runs. */
export interface Script {
  readonly text: string;
  /** By which Redis knows a script that it has seen. */
  readonly sha: string;
}

/** The script with this log: all algorithms in the frame, each file as it can be read in `lua/`. */
export function scriptWith(log: Log): Script {
  const names = ['prelude', log, 'hit-log', ...ALGORITHMS, 'frame'];
  const text = names.map((name) => lua[`${name}.lua`]).join('\n');
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}
