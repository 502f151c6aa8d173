export { LeasingStore } from './leasing-store.js';
export type { LeasingStoreOptions } from './leasing-store-options.js';
