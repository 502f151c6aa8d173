// Fails unless every published package has the version of the tag, and the changelog its section: node scripts/check-release.mjs v0.2.0
import { readdirSync, readFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const [tag = ''] = process.argv.slice(2);
const manifests = readdirSync(new URL('packages', root))
  .map((name) => JSON.parse(readFileSync(new URL(`packages/${name}/package.json`, root), 'utf8')))
  .filter((manifest) => !manifest.private);

const problems = manifests
  .filter(({ version }) => tag !== `v${version}`)
  .map(({ name, version }) => `Expected ${name} to have the version of the tag ${tag}, got ${version}`);
if (!readFileSync(new URL('CHANGELOG.md', root), 'utf8').includes(`\n## ${tag.slice(1)}\n`))
  problems.push(`Expected CHANGELOG.md to have the section ${tag.slice(1)}, got none`);

for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
