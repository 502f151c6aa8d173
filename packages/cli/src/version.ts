import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The version of this package. */
export const VERSION = manifest.version;

/** Returns the command with these arguments as a shell takes it. */
export function toCommandLine(args: readonly string[]): string {
  const quoted = args.map((arg) =>
    /^[\w@%+=:,./*-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`,
  );
  return ['rollgate', ...quoted].join(' ');
}
