import { Command, Option } from 'commander';
import type { Settings } from './analyze-logs.js';
import { UsageError } from './errors.js';
import { FORMATS, type Format } from './log/read-log.js';
import { parseBy, parseField, parseFormat, parseIpv6Prefix, parseTolerance } from './options.js';

/** The parsed options that all commands share. */
export interface CommonOptions {
  by: string;
  keyField?: string;
  cost?: string;
  timeField?: string;
  format?: Format;
  tolerance: number;
  ipv6Prefix: number;
  html?: string;
  json?: boolean;
}

/** Collects a repeated option, such as `--x a --x b`, in a list. */
export const listOf =
  <Value>(parse: (text: string) => Value) =>
  (text: string, before: readonly Value[] = []) => [...before, parse(text)];

/** Creates a command with the options that all commands share. */
export function command(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('[log...]', 'plain or gzip files; - or none for standard input')
    .option('--by <caller>', 'what identifies a caller: ip, user, path, or the name of a JSON field', 'ip')
    .option('--key-field <name>', 'JSON field with the caller, if its name is uncommon', parseField('--key-field'))
    .option('--time-field <name>', 'JSON field with the time, if its name is uncommon', parseField('--time-field'))
    .option('--cost <field>', 'JSON field with the number of units that a request costs', parseField('--cost'))
    .option('--format <format>', `${FORMATS.join(', ')} (default: detected from the first line)`, parseFormat)
    .addOption(
      new Option('--tolerance <time>', 'how far out of order lines may be')
        .argParser(parseTolerance)
        .default(parseTolerance('5m'), '5m'),
    )
    .option('--ipv6-prefix <bits>', 'length of the IPv6 prefix that identifies one client', parseIpv6Prefix, 56)
    .option('--html <file>', 'also write the report as a page with charts')
    .option('--json', 'print one JSON object');
}

/** @throws UsageError when options contradict each other. */
export function resolveSettings(paths: readonly string[], options: CommonOptions): Settings {
  const { by, keyField, cost, timeField, format, tolerance, ipv6Prefix, html, json = false } = options;
  if (cost !== undefined && format !== undefined && format !== 'json') {
    throw new UsageError(
      `Expected no \`--cost\` with \`--format ${format}\`, got ${JSON.stringify(cost)}: only JSON lines have fields`,
    );
  }
  return {
    paths,
    by: parseBy(by, keyField, format),
    cost,
    timeField,
    format,
    toleranceMs: tolerance,
    ipv6Prefix,
    html,
    json,
  };
}
