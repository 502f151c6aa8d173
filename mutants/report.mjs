// What the campaign found: all of it as JSON, and a table by area.

import { writeFileSync } from 'node:fs';

const here = (name) => new URL(name, import.meta.url);

/** Writes `report.json` and `report.md`; after each mutant, so that a campaign that ends early has its results. */
export function writeReport(results, total) {
  const isDetected = ({ outcome }) => outcome === 'killed';
  const detected = results.filter(isDetected);
  const entries = results.map(({ name, file, description, outcome, failure = null, seconds }) => {
    return { name, file, description, outcome, failure, seconds };
  });
  writeFileSync(here('report.json'), `${JSON.stringify(entries, undefined, 2)}\n`);
  const areas = grouped(results);
  const rows = [...areas].map(([area, of]) => `| ${area} | ${of.length} | ${of.filter(isDetected).length} |`);
  const share = ((100 * detected.length) / results.length).toFixed(1);
  const lines = [
    '# Planted defects',
    '',
    `The fast suite detects ${detected.length} of ${results.length} planted defects (${share} %), of ${total} in the list. \`npm run mutants\` repeats it.`,
    '',
    '| area | planted | detected |',
    '| --- | --- | --- |',
    ...rows,
    ...listed('Not detected', results, 'survived'),
    ...listed('Not loaded, because the defect is a compile error or breaks the import', results, 'broken'),
    ...listed('Not tested, because the run ended without a result', results, 'error'),
  ];
  writeFileSync(here('report.md'), `${lines.join('\n')}\n`);
}

function listed(title, results, of) {
  const chosen = results.filter(({ outcome }) => outcome === of);
  if (chosen.length === 0) return [];
  const lines = chosen.map(({ name, description, reason = '' }) => `- ${name}: ${description}. ${reason}`.trimEnd());
  return ['', `${title}:`, '', ...lines];
}

function areaOf({ file }) {
  return file.replace(/^packages\//, '').replace(/\/[^/]+$/, '');
}

function grouped(results) {
  const areas = new Map();
  for (const result of results) areas.set(areaOf(result), [...(areas.get(areaOf(result)) ?? []), result]);
  return areas;
}
