// Writes the changes of all packages, unreleased ones first, to where `changelog.md` includes them.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FRONT_MATTER = /^---\n([\s\S]*?)---\n/;

const changes = readdirSync(`${ROOT}.changeset`)
  .filter((file) => file.endsWith('.md') && file !== 'README.md')
  .map((file) => readFileSync(`${ROOT}.changeset/${file}`, 'utf8'))
  .filter((text) => FRONT_MATTER.test(text))
  .map(unreleasedSection);

const logs = readdirSync(`${ROOT}packages`)
  .map((folder) => `${ROOT}packages/${folder}/CHANGELOG.md`)
  .filter((file) => existsSync(file))
  .map((file) => readFileSync(file, 'utf8').replace(/^#/gm, '##').trim());

mkdirSync(`${ROOT}docs/.generated`, { recursive: true });
writeFileSync(
  `${ROOT}docs/.generated/changelog.md`,
  [...(changes.length > 0 ? ['## Unreleased', ...changes] : []), ...logs].join('\n\n'),
);

function unreleasedSection(text) {
  const [matter, header] = FRONT_MATTER.exec(text);
  const packages = [...header.matchAll(/^"(.+?)":/gm)].map(([, name]) => name);
  return `### ${packages.join(', ')}\n\n${text.slice(matter.length).trim()}`;
}
