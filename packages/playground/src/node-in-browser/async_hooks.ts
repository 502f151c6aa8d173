/** Browsers have no async context, so a callback is bound to nothing. */
export const AsyncResource = { bind: <Callback>(callback: Callback): Callback => callback };
