// What is kept of what has happened, so that the server and all pages keep the same.

import type { Attempt } from './protocol.js';
import { BOUNDS, WINDOWS_SHOWN } from './settings.js';

/** How many attempts are kept; more come only of such as must be kept. */
export const MAX_ATTEMPTS = 20_000;

/** How long after its coming an attempt can be seen: it can be held for a window, and then be shown for the usual time. */
export const LONGEST_SHOWN_MS = BOUNDS.windowMs.most * (WINDOWS_SHOWN + 1);

/** What either limiter allowed counts for a while, and is kept so long; a flood is of what both rejected. */
export const isRetained = ({ allowed, fixedAllowed }: Attempt): boolean => allowed || fixedAllowed;
