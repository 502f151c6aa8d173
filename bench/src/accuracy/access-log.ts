import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** The requests of a log by the client's address. */
export interface AccessLog {
  /** The times of each client's requests, in microseconds, which never decrease. */
  readonly clients: ReadonlyMap<string, readonly number[]>;
  readonly requests: number;
  /** The number of lines in other formats. */
  readonly skipped: number;
}

/** The start of the common and the combined format: client, identity, user, time, request, status, size. */
const LINE = /^(\S+) \S+ .+? \[([^\]]+)\] "(?:[^"\\]|\\.)*" \d{3} (?:\d+|-)(?: |$)/;
const TIME = /^(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}):(\d{2}):(\d{2}) ([+-])(\d{2})(\d{2})$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Reads a log. Its lines may be in any order, because servers write them when a request ends. */
export async function readAccessLog(path: string): Promise<AccessLog> {
  const clients = new Map<string, number[]>();
  let requests = 0;
  let skipped = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    const [, client, text] = LINE.exec(line) ?? [];
    const ms = parseTime(text ?? '');
    if (client === undefined || ms === undefined) {
      skipped += 1;
      continue;
    }
    requests += 1;
    const times = clients.get(client);
    if (times === undefined) clients.set(client, [ms * 1000]);
    else times.push(ms * 1000);
  }
  for (const times of clients.values()) times.sort((one, other) => one - other);
  return { clients, requests, skipped };
}

/** Parses a time such as `17/May/2015:10:05:03 +0200`. Returns milliseconds since the epoch. */
function parseTime(text: string): number | undefined {
  const [, day, monthName, year, hour, minute, second, sign, zoneHours, zoneMinutes] = TIME.exec(text) ?? [];
  const month = MONTHS.indexOf(monthName!);
  const local = new Date(Date.UTC(Number(year), month, Number(day), Number(hour), Number(minute), Number(second)));
  // `Date.UTC` accepts a month, day or hour that does not exist, and returns another one.
  if (local.getUTCMonth() !== month || local.getUTCDate() !== Number(day) || local.getUTCHours() !== Number(hour))
    return;
  const zoneMs = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000;
  return sign === '+' ? local.getTime() - zoneMs : local.getTime() + zoneMs;
}
