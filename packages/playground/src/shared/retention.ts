// Which attempts are kept, so that the server and all pages keep the same ones.

import type { Attempt } from './protocol.js';
import { type Algorithm, BOUNDS, WINDOWS_SHOWN } from './settings.js';

/** How many attempts are kept. Only attempts that must be kept exceed it. */
export const MAX_ATTEMPTS = 20_000;

/** How long an attempt can be visible: its delay of up to a window, and then the time that the chart shows. */
export const LONGEST_SHOWN_MS = BOUNDS.windowMs.max * (WINDOWS_SHOWN + 1);

/** Whether an attempt must be kept, because a limiter allowed and so counts it. A flood consists of the others. */
export const isRetained = ({ allowed, delays }: Attempt | Attempt<Algorithm>): boolean =>
  allowed || Object.values(delays).some((delay) => delay !== null);
