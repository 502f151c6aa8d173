import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, View } from 'vega';
import { compile } from 'vega-lite';
import { runAll } from './cells.js';
import { toSpec } from './spec.js';
import { addDarkForm } from './style.js';

const file = fileURLToPath(new URL('../../algorithms.svg', import.meta.url));
const { bars, cells } = runAll();
const view = new View(parse(compile(toSpec(bars, cells)).spec), { renderer: 'none' });
writeFileSync(file, addDarkForm(await view.toSVG()));
view.finalize();
console.log(`Drew ${file}`);
