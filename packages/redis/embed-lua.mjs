// Makes src/script/lua.generated.ts out of the files in src/lua, so that what is published finds its scripts however it is
// bundled. Those of queues become src/waiting/queues.generated.ts, which only programs with `fairWaiting` load. Run by the
// workspace's build.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

const folder = new URL('src/lua/', import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.lua'))
  .sort();
const isOfQueues = (name) => name.startsWith('queues');
// A constant at the start of a line belongs to all files.
const shared = new Map(files.flatMap((name) => [...constantsOf(read(name), '')]));
embed(
  files.filter((name) => !isOfQueues(name)),
  'src/script/lua.generated.ts',
  'lua',
);
embed(files.filter(isOfQueues), 'src/waiting/queues.generated.ts', 'queuesLua');

function embed(names, path, constant) {
  const entries = names.map((name) => {
    const text = inlineConstants(removeComments(read(name)), shared);
    return `  ${JSON.stringify(basename(name))}: ${JSON.stringify(sizeTables(text))},\n`;
  });
  const text = `// Made of the files in lua/ by embed-lua.mjs.\nexport const ${constant}: Readonly<Record<string, string>> = {\n${entries.join('')}};\n`;
  const target = new URL(path, import.meta.url);
  let present;
  try {
    present = readFileSync(target, 'utf8');
  } catch {
    // The first build.
  }
  if (present !== text) writeFileSync(target, text);
}

function read(name) {
  return readFileSync(new URL(name, folder), 'utf8');
}

/**
 * Comments would be a quarter of what is published. Their lines stay, empty, so that errors of Redis name the lines of the files.
 * The builder of the scripts looks for some of them.
 */
function removeComments(text) {
  return text.replace(/^ *--(?! include | end of what ).*$/gm, '');
}

/** The values of the names that a file declares as `local NAME <const>`. */
function constantsOf(text, indent = ' *') {
  const lines = text.matchAll(new RegExp(`^${indent}local (\\w+ <const>(?:, \\w+ <const>)*) = (.*)$`, 'gm'));
  return new Map(
    Array.from(lines).flatMap(([, names, values]) => {
      const list = values.split(', ');
      return names.split(', ').map((name, index) => [name.slice(0, -' <const>'.length), list[index]]);
    }),
  );
}

/** The Lua of Redis has no constants, and a variable that a function captures takes as long as half a function. */
function inlineConstants(text, shared) {
  const constants = new Map([...shared, ...constantsOf(text)]);
  return text
    .replace(/^ *local \w+ <const>.*$/gm, '')
    .replace(/(?<![\w.'])[A-Z][A-Z_]*(?![\w'])/g, (name) => constants.get(name) ?? name);
}

/** Gives tables of functions their size at once, because growing one takes twice as long as creating the functions. */
function sizeTables(text) {
  return text.replace(/^local (\w+) = \{\}$/gm, (line, table) => {
    const names = Array.from(text.matchAll(/^function (\w+)\.(\w+)/gm)).filter(([, owner]) => owner === table);
    return names.length < 2 ? line : `local ${table} = { ${names.map(([, , name]) => `${name} = false`).join(', ')} }`;
  });
}
