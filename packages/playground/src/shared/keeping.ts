// What is kept of what has happened, so that the server and all pages keep the same.

import { BOUNDS, WINDOWS_SHOWN } from './settings.js';
import type { Attempt } from './wire.js';

/** How many attempts are kept; more come only of such as must be kept. */
export const MOST_ATTEMPTS = 20_000;

/** How long after its coming an attempt can be seen: it can be held for a window, and then be shown for the usual time. */
export const LONGEST_SHOWN_MS = BOUNDS.windowMs.most * (WINDOWS_SHOWN + 1);

/** What either limiter let through counts for a while, and is kept so long; a flood is of what both refused. */
export const mustBeKept = ({ allowed, fixedAllowed }: Attempt): boolean => allowed || fixedAllowed;
