import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PACKAGES = fileURLToPath(new URL('../../packages', import.meta.url));

/** Apps find there nothing but what they import from an adapter. */
const isForAdapters = ({ name }) => name === '@rollgate/http/app';

/** The entry points of all published libraries, as `{ name, packageName, file }`: what each `package.json` exports for apps. */
export const ENTRY_POINTS = readdirSync(PACKAGES)
  .sort(coreFirst)
  .flatMap(entryPointsOf)
  .filter((entry) => !isForAdapters(entry));

function entryPointsOf(folder) {
  const manifest = `${PACKAGES}/${folder}/package.json`;
  if (!existsSync(manifest)) return [];
  const { name, private: isPrivate, exports = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
  if (isPrivate) return [];
  return Object.entries(exports)
    .filter(([path]) => path !== './package.json')
    .map(([path, conditions]) => ({
      name: `${name}${path.slice(1)}`,
      packageName: name,
      file: `${PACKAGES}/${folder}/${sourceOf(conditions)}`,
    }));
}

function sourceOf(conditions) {
  return (conditions.require ?? conditions.default).replace('./dist/', 'src/').replace(/\.js$/, '.ts');
}

/** The other packages refer to what the core exports, so it comes first. */
function coreFirst(one, other) {
  return Number(other === 'core') - Number(one === 'core') || one.localeCompare(other);
}
