import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { vectors, worstBursts } from '@rollgate/store-conformance';

const readme = readFileSync(join(__dirname, '../README.md'), 'utf8');

test('the table of worst bursts equals the data', () => {
  const cells = [...readme.matchAll(/^\|\s*(?:`(\w+)`)?\s*\|\s*(\d+)\s*\|\s*(?:(.+): )?`(.+)`\s*\|$/gm)];
  const rows = Object.entries(worstBursts).flatMap(([algorithm, bursts]) =>
    bursts.map(({ units, formula, counted }, index) => [
      index === 0 ? algorithm : undefined,
      String(units),
      bursts.length > 1 ? counted : undefined,
      formula,
    ]),
  );
  expect(cells.map((row) => row.slice(1))).toEqual(rows);
});

test('the titles of an algorithm’s vectors are unique', () => {
  for (const [algorithm, ofOne] of Object.entries(vectors)) {
    expect(new Set(ofOne.map(({ title }) => title)).size).toBe(ofOne.length);
    for (const { limit } of ofOne) expect(limit.algorithm).toBe(algorithm);
  }
});
