// Makes src/script/lua.generated.ts out of the files in src/lua, so that what is published finds its scripts however it is
// bundled. Run by the workspace's build.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

const folder = new URL('src/lua/', import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.lua'))
  .sort();
const entries = files.map(
  (name) => `  ${JSON.stringify(basename(name))}: ${JSON.stringify(readFileSync(new URL(name, folder), 'utf8'))},\n`,
);
const text = `// Made of the files in lua/ by embed-lua.mjs.\nexport const lua: Readonly<Record<string, string>> = {\n${entries.join('')}};\n`;
const target = new URL('src/script/lua.generated.ts', import.meta.url);

let present;
try {
  present = readFileSync(target, 'utf8');
} catch {
  // The first build.
}
if (present !== text) writeFileSync(target, text);
