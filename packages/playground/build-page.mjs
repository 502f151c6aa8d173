// Bundles the page twice: into dist/page for the server, and into dist/static for any web server, with the limiter in the
// browser. PLAYGROUND_URL is where the static build will be, for links that other sites show. dist/static also has the
// parts that other pages embed: embed.html without the heading, and chart.html with nothing but the counters and the chart.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const COMMON = { bundle: true, minify: true, target: 'es2022', logLevel: 'warning', tsconfigRaw: {} };

/** Bundles the log reader of the command line, which the page loads when somebody gives it a log. */
function buildLogReader(folder) {
  const modules = ['node:net', 'node:crypto', 'node:string_decoder'];
  return build({
    ...COMMON,
    format: 'esm',
    alias: Object.fromEntries(modules.map((name) => [name, here('src/log/node-modules.ts')])),
    entryPoints: [here('../cli/src/page-log.ts')],
    outfile: here(`${folder}/log.js`),
  });
}

async function buildPage(folder, hasServer) {
  rmSync(here(folder), { recursive: true, force: true });
  await buildLogReader(folder);
  await build({
    ...COMMON,
    format: 'iife',
    define: { HAS_SERVER: String(hasServer) },
    entryPoints: [
      { in: here('src/page/main.ts'), out: 'page' },
      { in: here('src/page/style.css'), out: 'page' },
    ],
    outdir: here(folder),
  });
  for (const file of ['favicon.svg', 'preview.png']) cpSync(here(`src/page/${file}`), here(`${folder}/${file}`));
  const { PLAYGROUND_URL: base } = process.env;
  // Other sites need the whole address of the picture.
  const picture = base === undefined ? 'preview.png' : new URL('preview.png', base).href;
  const html = readFileSync(here('src/page/index.html'), 'utf8');
  writeFileSync(here(`${folder}/index.html`), html.replace('content="preview.png"', `content="${picture}"`));
  return html;
}

/** A part of the page for an iframe. Search engines list the page that embeds it instead. */
function writePart(folder, view, html) {
  const part = html
    .replace('<html lang="en">', `<html lang="en" data-view="${view}">`)
    .replace(/^ *<meta\s+(?:property="og:|name="(?:twitter:|description"))[^>]*>\n/gm, '')
    .replace('</head>', '  <meta name="robots" content="noindex" />\n  </head>');
  writeFileSync(here(`${folder}/${view}.html`), part);
}

await buildPage('dist/page', true);
const html = await buildPage('dist/static', false);
for (const view of ['embed', 'chart']) writePart('dist/static', view, html);
