import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { SUBJECT_NAMES, type SubjectName } from './subjects.js';
import type { Column } from './table.js';

/** Describes the machine and the versions, one line each. */
export function describeRun(): string[] {
  const { length } = cpus();
  return [
    `- ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, V8 ${process.versions.v8}, ${process.platform} ${process.arch}`,
    `- CPU: ${cpus()[0]?.model.trim() ?? 'unknown'}, ${length} core${length === 1 ? '' : 's'}; load average at the start ${loadavg()[0]!.toFixed(2)}`,
    `- express ${versionOf('express')}, fastify ${versionOf('fastify')}, autocannon ${versionOf('autocannon')}`,
  ];
}

/** The headers of the table's columns. */
export function columnHeaders(): Record<Column, string> {
  const nameOf = (subject: SubjectName) => (subject === 'rollgate' ? '@rollgate/core' : subject);
  return {
    bare: 'bare framework',
    'by hand': 'Rollgate by hand',
    ...(Object.fromEntries(SUBJECT_NAMES.map((name) => [name, `${name} ${versionOf(nameOf(name))}`])) as Record<
      SubjectName,
      string
    >),
  };
}

/** Reads the version from the file, because not every package exports its package.json. */
export function versionOf(name: string): string {
  const file = new URL(`../node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
