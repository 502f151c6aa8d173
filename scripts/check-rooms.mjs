// Fails unless each source of core, http, postgres, redis and sqlite is in a room, and imports only from its own room and earlier ones. Biome
// detects cycles inside a room. Part of `npm run check`: node scripts/check-rooms.mjs [root].
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path/posix';
import { importsIn } from './imports.mjs';

/** The rooms of each package, which are folders of its `src`, in their order. */
const ROOMS = {
  core: [
    ...['base', 'validation', 'time', 'limits', 'plan', 'decision', 'store', 'engine'],
    ...['memory', 'failure', 'custom', 'events', 'slots', 'blocks', 'waiting', 'limiter', 'outgoing'],
  ],
  http: ['base', 'client', 'warnings', 'headers', 'rejection', 'refunds', 'options', 'gate', 'node', 'web'],
  postgres: ['clients', 'states', 'sql', 'store'],
  redis: ['base', 'operations', 'script', 'clients', 'sending', 'denials', 'changes', 'waiting', 'store'],
  sqlite: ['database', 'store'],
};
/** The entry points of a package. They import from every room, and no room imports them. */
const ENTRIES = ['index', 'store-api', 'waiting-api', 'outgoing-api'].flatMap((name) => [`${name}.ts`, `${name}.mts`]);

const root = process.argv[2] ?? '.';
const problems = Object.keys(ROOMS).flatMap(problemsIn);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function problemsIn(name) {
  const rooms = ROOMS[name];
  const src = `packages/${name}/src/`;
  const roomOf = (file) => file.slice(src.length).split('/')[0];
  const rankOf = (room) => (ENTRIES.includes(room) ? rooms.length : rooms.indexOf(room));
  return sourcesIn(src).flatMap((file) => {
    const room = roomOf(file);
    if (rankOf(room) < 0) return [`${file} is in no room. \`scripts/check-rooms.mjs\` lists the rooms of ${name}`];
    return importsIn(root, file)
      .filter((imported) => rankOf(roomOf(imported)) > rankOf(room))
      .map(
        (imported) =>
          `${file} imports ${imported}, but \`${room}\` comes before \`${roomOf(imported)}\`. ` +
          'A room imports only from earlier ones, see ARCHITECTURE.md',
      );
  });
}

/** The TypeScript files in a folder, as paths from the root. */
function sourcesIn(folder) {
  if (!existsSync(join(root, folder))) return [];
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => /\.m?ts$/.test(file)).map((file) => join(folder, file));
}
