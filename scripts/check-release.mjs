// Fails unless every package has the version of the tag and no changeset is left: node scripts/check-release.mjs v0.2.0
import { readdirSync, readFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const [tag = ''] = process.argv.slice(2);
const { fixed } = JSON.parse(readFileSync(new URL('.changeset/config.json', root), 'utf8'));

const problems = fixed.flat().flatMap((name) => {
  const manifest = new URL(`packages/${name.split('/')[1]}/package.json`, root);
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
  return tag === `v${version}` ? [] : [`Expected ${name} to have the version of the tag ${tag}, got ${version}`];
});
const changesets = readdirSync(new URL('.changeset', root)).filter((file) => /^(?!README).*\.md$/.test(file));
if (changesets.length > 0) problems.push(`Run npx changeset version first, to release ${changesets.join(', ')}`);

for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
