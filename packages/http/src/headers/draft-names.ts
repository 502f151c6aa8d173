/** The names of the parameters of `RateLimit` that the drafts change. */
export interface DraftNames {
  /** The units that are left. */
  readonly available: string;
  /** The seconds within which the client can use no more. */
  readonly window: string;
  /** What the request takes of the limit. `undefined` in a draft without it. */
  readonly cost?: string;
}

/** The names by the value of the option `headers`. */
export const DRAFT_NAMES: Readonly<Record<'draft-11' | 'draft-12', DraftNames>> = {
  'draft-11': { available: 'r', window: 't' },
  // The editor's copy of 2026-04-20, which is not published yet.
  'draft-12': { available: 'a', window: 'w', cost: 'c' },
};
