import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';

/** The machine and the time of a run. */
export interface Machine {
  /** The day, such as `'2026-11-22'`. */
  readonly date: string;
  readonly node: string;
  readonly v8: string;
  readonly platform: string;
  readonly cpu: string;
  readonly cores: number;
  /** The load average over one minute before the run. Other programs distort the figures. */
  readonly loadAverage: number;
}

export function describeMachine(): Machine {
  const { length: cores } = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    v8: process.versions.v8,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores,
    loadAverage: loadavg()[0]!,
  };
}

export function machineLines({ date, node, v8, platform, cpu, cores, loadAverage }: Machine): string[] {
  return [
    `- ${date}, Node ${node}, V8 ${v8}, ${platform}`,
    `- CPU: ${cpu}, ${cores} core${cores === 1 ? '' : 's'}; load average at the start ${loadAverage.toFixed(2)}`,
  ];
}

/** When and on what a run took place, for a page. */
export function describeRun({ date, node, cpu, cores }: Machine): string {
  return `The run took place on ${date}, with Node ${node} on ${cpu} with ${cores} cores.`;
}

/** Reads the version from the file, because not every package exports its package.json. */
export function versionOf(name: string): string {
  const file = new URL(`../node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
