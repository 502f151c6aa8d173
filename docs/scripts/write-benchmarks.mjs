// Writes the charts and tables of `bench/results` to where `comparison.md` includes them.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { toMarkdown } from '../benchmarks/sections.mjs';

const RESULTS = fileURLToPath(new URL('../../bench/results', import.meta.url));
const GENERATED = fileURLToPath(new URL('../.generated', import.meta.url));

mkdirSync(GENERATED, { recursive: true });
for (const file of readdirSync(RESULTS).filter((name) => name.endsWith('.json'))) {
  const result = JSON.parse(readFileSync(`${RESULTS}/${file}`, 'utf8'));
  writeFileSync(`${GENERATED}/benchmark-${result.part}.md`, await toMarkdown(result));
}
