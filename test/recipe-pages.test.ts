import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const PAGES = join(__dirname, '../docs/recipes');

/** The programs to which a page links, and the code on the page. */
function partsOf(name: string): { programs: string[]; blocks: string[] } {
  const text = readFileSync(join(PAGES, name), 'utf8');
  const links = [...text.matchAll(/\]\((\.\.\/\.\.\/examples\/[^)]+\.\w+)\)/g)].map(([, path]) => join(PAGES, path!));
  const blocks = [...text.matchAll(/^```\w+ fragment\n(.*?)\n```$/gms)].map(([, code]) => code!);
  return { programs: links.filter(existsSync).map((path) => readFileSync(path, 'utf8')), blocks };
}

test.each(readdirSync(PAGES))('the code in recipes/%s is part of a tested program', (name) => {
  const { programs, blocks } = partsOf(name);
  expect(blocks).not.toEqual([]);
  expect(blocks.filter((code) => !programs.some((program) => program.includes(code)))).toEqual([]);
});
