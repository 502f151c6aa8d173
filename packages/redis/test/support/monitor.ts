import { createClient } from 'redis';

export interface MonitoredCommand {
  /** In the letters in which the client or the script wrote it. */
  readonly command: string;
  /** As the server shows them, so a byte that does not print is an escape such as `\x00`. */
  readonly args: readonly string[];
  /** When the server ran it, by its own clock. */
  readonly timeMicros: number;
  readonly isInScript: boolean;
}

/**
 * Reports each command that a server runs, and returns a function that ends the reports. It does not use the monitor of
 * ioredis, which fails if a command arrives together with the reply to MONITOR.
 */
export async function monitor(url: string, report: (command: MonitoredCommand) => void): Promise<() => void> {
  const client = createClient({ url });
  client.on('error', () => {}); // The server stops before the client in some tests.
  await client.connect();
  await client.monitor((line) => report(parse(line.toString())));
  return () => client.destroy();
}

/** Parses a line such as `1795528409.479470 [0 127.0.0.1:52192] "SET" "key" "a \"value\""`. */
function parse(line: string): MonitoredCommand {
  const [, seconds, source, words] = /^(\S+) \[\d+ (\S+)\] "(.*)"$/s.exec(line)!;
  const [command, ...args] = words!.split('" "').map((word) => word.replaceAll('\\"', '"'));
  return { command: command!, args, timeMicros: Math.round(Number(seconds) * 1e6), isInScript: source === 'lua' };
}
