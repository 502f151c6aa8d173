import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Resvg } from '@resvg/resvg-js';

/** The size that other sites expect. */
export const [WIDTH, HEIGHT] = [1200, 630];

const FONT = createRequire(import.meta.url).resolve('@expo-google-fonts/inter/700Bold/Inter_700Bold.ttf');
const MARK = fileURLToPath(new URL('../../packages/playground/src/page/favicon.svg', import.meta.url));

const [MARGIN, ROOM] = [80, 3];
/** Sizes of the title, with the part of its size that a letter takes on average. */
const SIZES = [92, 76, 60, 48];
const LETTER = 0.58;

/** Where the picture of a page is in the built site: `og/index.png`, `og/recipes/nextjs.png`. */
export function pictureOf(page: string): string {
  return `og/${page.replace(/\.md$/, '')}.png`;
}

/** The file of the picture of a page, in a folder that exists. */
export function createPlaceOf(outDir: string, page: string): string {
  const file = join(outDir, pictureOf(page));
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

/** Writes the picture that other sites show for a link to the page. */
export function writePicture(outDir: string, page: string, title: string): void {
  const options = { font: { fontFiles: [FONT], loadSystemFonts: false, defaultFontFamily: 'Inter' } };
  writeFileSync(createPlaceOf(outDir, page), new Resvg(toSvg(title), options).render().asPng());
}

function toSvg(title: string): string {
  const size = SIZES.find((each) => toLines(title, each).length <= ROOM) ?? SIZES.at(-1)!;
  const lines = toLines(title, size).map(
    (line, index) => `<tspan x="${MARGIN}" dy="${index === 0 ? 0 : 1.15 * size}">${escapeText(line)}</tspan>`,
  );
  const mark = readFileSync(MARK, 'utf8').replace('<svg ', `<svg x="${MARGIN}" y="72" width="64" height="64" `);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" font-family="Inter" font-weight="700">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#14181b"/>${mark}
<text x="${MARGIN + 84}" y="119" font-size="40" fill="#e8ecef">Rollgate</text>
<text y="260" font-size="${size}" fill="#ffffff">${lines.join('')}</text>
${row(540)}
</svg>`;
}

/** Ten allowed requests and some rejected ones, with the marks of the playground. */
function row(y: number): string {
  return Array.from({ length: 16 }, (_, index) => {
    const x = MARGIN + 14 + index * 44;
    return index < 10
      ? `<circle cx="${x}" cy="${y}" r="14" fill="#56b4e9"/>`
      : `<path d="M${x - 11} ${y - 11}l22 22m0-22l-22 22" stroke="#8f9aa2" stroke-width="5"/>`;
  }).join('');
}

/** Breaks a title between its words, and a word of a package or an event also after a slash or a colon. */
function toLines(title: string, size: number): string[] {
  const most = (WIDTH - 2 * MARGIN) / (LETTER * size);
  const lines: string[] = [];
  for (const part of title.split(/(?<=[ /:])/)) {
    const line = `${lines.at(-1) ?? ''}${part}`;
    if (lines.length > 0 && line.trimEnd().length <= most) lines[lines.length - 1] = line;
    else lines.push(part);
  }
  return lines.map((line) => line.trimEnd());
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escapeText = (text: string) => text.replace(/[&<>]/g, (character) => ENTITIES[character]!);
