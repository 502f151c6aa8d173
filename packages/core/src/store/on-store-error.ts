/** What decides when a store has failed. */
export type OnStoreError = 'fallback' | 'allow' | 'deny' | 'throw';

export const ON_STORE_ERROR: readonly OnStoreError[] = ['fallback', 'allow', 'deny', 'throw'];
