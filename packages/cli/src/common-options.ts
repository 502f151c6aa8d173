import { Command, Option } from 'commander';
import { ALGORITHMS, type Algorithm, type NamedQuota } from './algorithms.js';
import type { Settings } from './analyze-logs.js';
import { type CalendarOptions, inCalendar } from './calendar-span.js';
import { UsageError } from './errors.js';
import { ClientFinder, type TrustedProxies } from './log/client.js';
import { RequestFilter } from './log/filter.js';
import type { LogFormat } from './log/formats/format.js';
import { FORMAT_NAMES } from './log/formats/index.js';
import {
  checkQuotas,
  parseAlgorithm,
  parseField,
  parseFormat,
  parseIpv6Prefix,
  parseKeySource,
  parsePattern,
  parseQuota,
  parseTolerance,
  parseTrustedProxies,
} from './parse-options.js';
import { listOf } from './usage.js';

/** The parsed options that all commands share. */
export interface CommonOptions extends CalendarOptions {
  by: string;
  keyField?: string;
  cost?: string;
  timeField?: string;
  format?: LogFormat;
  pattern?: LogFormat;
  trustedProxies: TrustedProxies;
  tolerance: number;
  ipv6Prefix: number;
  html?: string;
  json?: boolean;
  exclude?: readonly string[];
  path?: readonly string[];
  method?: readonly string[];
}

/** Whether requests have costs. A pattern names them by a group. */
export function hasCosts({ selectors, format }: Settings): boolean {
  return selectors.cost !== undefined || format?.hasCosts === true;
}

/** Creates a command with the options that all commands share. A live command follows one log. */
export function command(name: string, { isLive = false } = {}): Command {
  const created = new Command(name)
    .argument(
      isLive ? '[log]' : '[log...]',
      `${isLive ? 'a plain file' : 'plain or gzip files'}; - or none for standard input`,
    )
    .option('--by <caller>', 'what identifies a caller: ip, forwarded, user, path, or the name of a field', 'ip')
    .addOption(
      new Option('--trusted-proxies <which>', 'proxies at the end of a forwarded list: their number, or their networks')
        .argParser(parseTrustedProxies)
        .default(parseTrustedProxies('private'), 'private'),
    )
    .option('--key-field <name>', 'field with the caller, if its name is uncommon', parseField('--key-field'))
    .option('--time-field <name>', 'field with the time, if its name is uncommon', parseField('--time-field'))
    .option('--cost <field>', 'field with the number of units that a request costs', parseField('--cost'))
    .option('--format <format>', `${FORMAT_NAMES.join(', ')} (default: detected)`, parseFormat)
    .option(
      '--pattern <regex>',
      'describes other formats by the groups (?<key>…), (?<time>…) and (?<cost>…)',
      parsePattern,
    )
    .option('--exclude <callers>', 'callers that do not count: keys, addresses or networks', listOf(String))
    .option('--path <paths>', 'counts only requests of these paths; * stands for any text', listOf(String))
    .option('--method <methods>', 'counts only requests of these methods', listOf(String))
    .option('--ipv6-prefix <bits>', 'length of the IPv6 prefix that identifies one client', parseIpv6Prefix, 56);
  if (isLive) return created.option('--json', 'print one JSON object per line');
  return created
    .addOption(
      new Option('--tolerance <time>', 'how far out of order lines may be')
        .argParser(parseTolerance)
        .default(parseTolerance('5m'), '5m'),
    )
    .option('--html <file>', 'also write the report as a page with charts')
    .option('--json', 'print one JSON object');
}

/** Adds the options that select the periods of a calendar. */
export function withCalendar(created: Command): Command {
  return created
    .option('--time-zone <zone>', 'time zone of calendar periods, such as Europe/Berlin (default: UTC)')
    .option('--anchor <day>', 'first day of weeks, months or years: a day of the month, a weekday or a date');
}

/** The parsed options of a command that simulates limits. */
export interface LimitOptions extends CommonOptions {
  limit?: readonly NamedQuota[];
  algorithm: Algorithm;
}

/** Adds the options that choose the limits, in a calendar or not. */
export function withLimits(created: Command): Command {
  return withCalendar(created)
    .option(
      '--limit <limits>',
      'requests per window, such as 100/1m, burst=10/1s or 1000/month; separate several by commas, or repeat the option',
      listOf(parseQuota),
    )
    .option('--algorithm <name>', `${ALGORITHMS.join(', ')}, or its name in the API`, parseAlgorithm, 'rolling');
}

/** @throws UsageError if there is no limit, or one that the algorithm does not support. */
export function resolveQuotas(options: LimitOptions): readonly NamedQuota[] {
  const quotas = inCalendar(requireLimit(options.limit), options);
  checkQuotas(options.algorithm, quotas);
  return quotas;
}

/** Commander would name a missing option before a misspelled one. */
export function requireLimit(quotas: readonly NamedQuota[] | undefined): readonly NamedQuota[] {
  if (quotas === undefined) throw new UsageError('Expected the option `--limit`, such as `--limit 100/1m`');
  return quotas;
}

/** @throws UsageError when options contradict each other. */
export function resolveSettings(paths: readonly string[], options: CommonOptions): Settings {
  const { by, keyField, cost, timeField, pattern, tolerance, ipv6Prefix, html, trustedProxies, json = false } = options;
  if (pattern !== undefined && options.format !== undefined) {
    throw new UsageError('Expected either `--format` or `--pattern`, got both');
  }
  const format = pattern ?? options.format;
  const filter = new RequestFilter(options);
  const clients = new ClientFinder(trustedProxies);
  if (cost !== undefined && format !== undefined && !format.hasFields) {
    const why = 'its lines have no named fields';
    throw new UsageError(
      `Expected no \`--cost\` with \`--format ${format.name}\`, got ${JSON.stringify(cost)}: ${why}`,
    );
  }
  return {
    ...{ paths, format, html, json, ipv6Prefix, filter },
    forwarded: clients.counts,
    selectors: {
      keySource: parseKeySource(by, keyField, format),
      time: timeField,
      cost,
      clients,
      needsTarget: filter.needsTarget,
    },
    toleranceMs: tolerance,
  };
}
