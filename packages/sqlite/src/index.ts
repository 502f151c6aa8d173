export type { SqliteDatabase, SqliteStatement, SqliteValue } from './database/database.js';
export type { SqliteStoreOptions } from './store/options.js';
export { SqliteStore } from './store/sqlite-store.js';
