// A store for express-rate-limit. It is an entry point of its own, so apps that don't use it load nothing of it.
export { RollingWindowStore, type RollingWindowStoreOptions } from './rolling-window-store.js';
