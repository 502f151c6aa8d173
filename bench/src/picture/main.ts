import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { readResults } from '../results.js';
import { runAll } from './cells.js';
import { toHotKeySpec } from './hot-key.js';
import { toSpec } from './spec.js';
import { addDarkForm } from './style.js';

const { bars, cells } = runAll();
await draw('algorithms.svg', toSpec(bars, cells));
await draw('hot-key.svg', toHotKeySpec(readResults('leasing')));

async function draw(name: string, spec: TopLevelSpec): Promise<void> {
  const file = fileURLToPath(new URL(`../../${name}`, import.meta.url));
  const view = new View(parse(compile(spec).spec), { renderer: 'none' });
  writeFileSync(file, addDarkForm(await view.toSVG()));
  view.finalize();
  console.log(`Drew ${file}`);
}
