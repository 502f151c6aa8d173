import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const SIZES = join(__dirname, '../scripts/package-sizes.mjs');
/** How far a size may be from the stated one, as a part of it. A change of a few lines must not fail. */
const TOLERANCE = 0.05;

interface Row {
  readonly name: string;
  readonly stated: Readonly<Record<string, number>>;
  readonly sizes: Readonly<Record<string, number>>;
}

/** Runs in its own process, because Jest cannot load an ES module without an experimental flag. */
const MEASURE = `
const { sizesOf, statedSizes } = await import(${JSON.stringify(SIZES)});
const rows = [];
for (const { name, stated } of statedSizes()) rows.push({ name, stated, sizes: await sizesOf(name) });
console.log(JSON.stringify(rows));
`;

test('the README states the sizes of the packages: run `npm run sizes` if it does not', () => {
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', MEASURE], { encoding: 'utf8' });
  const rows = JSON.parse(output) as Row[];
  expect(rows.length).toBeGreaterThan(10);
  const wrong = rows.flatMap(({ name, stated, sizes }) =>
    Object.entries(sizes).flatMap(([column, bytes]) => {
      const difference = Math.abs(bytes / 1000 - (stated[column] ?? 0));
      return difference <= Math.max(1, (TOLERANCE * bytes) / 1000) ? [] : [{ name, column, bytes, stated }];
    }),
  );
  expect(wrong).toEqual([]);
});
