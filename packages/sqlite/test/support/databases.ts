import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SqliteDatabase } from '@rollgate/sqlite';
import Database from 'libsql';

type Opened = SqliteDatabase & { close(): unknown };

/** `node:sqlite` exists since Node 22. */
const builtin = (() => {
  try {
    const name = 'node:sqlite';
    return createRequire(__filename)(name) as { DatabaseSync: new (file: string) => Opened };
  } catch {
    return undefined;
  }
})();

/** Opens a database of each library that this version of Node has. libsql has the methods of better-sqlite3, and needs no compiler. */
export const libraries: Readonly<Record<string, (file: string) => Opened>> = {
  libsql: (file) => new Database(file) as unknown as Opened,
  ...(builtin !== undefined && { 'node:sqlite': (file: string) => new builtin.DatabaseSync(file) }),
};

const folder = mkdtempSync(join(tmpdir(), 'rollgate-sqlite-'));
const opened: Opened[] = [];
let files = 0;

/** Returns a file that does not exist. */
export const newFile = (): string => join(folder, `${files++}.db`);

export function openDatabase(file = newFile(), library = 'libsql', mode = 'WAL'): Opened {
  const database = libraries[library]!(file);
  opened.push(database);
  database.exec(`PRAGMA journal_mode = ${mode}; PRAGMA synchronous = NORMAL`);
  return database;
}

export function removeDatabases(): void {
  for (const database of opened) database.close();
  rmSync(folder, { recursive: true, force: true });
}
