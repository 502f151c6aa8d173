// What the campaign found: all of it as JSON, and a table by area.

import { writeFileSync } from 'node:fs';
import { reasons } from './reasons.mjs';

const here = (name) => new URL(name, import.meta.url);

/** Writes `report.json` and `report.md`; after each mutant, so that a campaign that ends early has told what it knows. */
export function writeReport(results, total) {
  const isDetected = ({ killedBy }) => killedBy !== undefined;
  const survivors = results.filter((result) => !isDetected(result));
  const entries = results.map(({ name, file, description, killedBy = null, seconds }) => {
    return { name, file, description, killedBy, seconds };
  });
  writeFileSync(here('report.json'), `${JSON.stringify(entries, undefined, 2)}\n`);
  const areas = grouped(results);
  const rows = [...areas].map(([area, of]) => `| ${area} | ${of.length} | ${of.filter(isDetected).length} |`);
  const share = ((100 * (results.length - survivors.length)) / results.length).toFixed(1);
  const lines = [
    '# Planted defects',
    '',
    `The fast suite detects ${results.length - survivors.length} of ${results.length} planted defects (${share} %), of ${total} in the list. \`npm run mutants\` repeats it.`,
    '',
    '| area | planted | detected |',
    '| --- | --- | --- |',
    ...rows,
    ...(survivors.length === 0 ? [] : ['', 'Not detected:', '']),
    ...survivors.map(({ name, description }) => `- ${name}: ${description}. ${reasons[name] ?? ''}`.trimEnd()),
  ];
  writeFileSync(here('report.md'), `${lines.join('\n')}\n`);
}

function areaOf({ file }) {
  return file.replace(/^packages\//, '').replace(/\/[^/]+$/, '');
}

function grouped(results) {
  const areas = new Map();
  for (const result of results) areas.set(areaOf(result), [...(areas.get(areaOf(result)) ?? []), result]);
  return areas;
}
