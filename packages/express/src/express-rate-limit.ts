// The store for express-rate-limit has its own entry point, so that apps that don't use it don't load it.
export { RollingWindowStore, type RollingWindowStoreOptions } from './rolling-window-store.js';
