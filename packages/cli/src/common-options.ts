import { Command, Option } from 'commander';
import { UsageError } from './errors.js';
import { FORMATS, type Format } from './log/read-log.js';
import { parseBy, parseField, parseFormat, parseIpv6Prefix, parseTolerance } from './options.js';
import type { Settings } from './run.js';

/** What commander makes of the options that all commands take. */
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

/** `--x a --x b` as a list. */
export const listOf =
  <Value>(parse: (text: string) => Value) =>
  (text: string, before: readonly Value[] = []) => [...before, parse(text)];

/** A command with the options that all take. */
export function command(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('[log...]', 'files, also gzip; - or none for standard input')
    .option('--by <caller>', 'what tells callers apart: ip, user, path, or the name of a field of JSON lines', 'ip')
    .option(
      '--key-field <name>',
      'the field of JSON lines that has it, when its name is not a usual one',
      parseField('--key-field'),
    )
    .option('--time-field <name>', 'the field of JSON lines with the time', parseField('--time-field'))
    .option('--cost <field>', 'the field of JSON lines that says how many units a request costs', parseField('--cost'))
    .option('--format <format>', `${FORMATS.join(', ')}; unless told, what the first line is`, parseFormat)
    .addOption(
      new Option('--tolerance <time>', 'how far out of order lines may be')
        .argParser(parseTolerance)
        .default(parseTolerance('5m'), '5m'),
    )
    .option('--ipv6-prefix <bits>', 'of an IPv6 address, tell one client from another', parseIpv6Prefix, 56)
    .option('--html <file>', 'write the same as a page with charts')
    .option('--json', 'print one JSON object');
}

/** @throws UsageError when options contradict each other. */
export function settingsOf(paths: readonly string[], options: CommonOptions): Settings {
  const { by, keyField, cost, timeField, format, tolerance, ipv6Prefix, html, json = false } = options;
  if (cost !== undefined && format !== undefined && format !== 'json') {
    throw new UsageError(`\`--cost ${cost}\` names a field of JSON lines, and \`--format ${format}\` has none`);
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
