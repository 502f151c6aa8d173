import { formatValue } from '../validation/validate.js';

const NAME = /^[a-z0-9][\w.-]{0,63}$/i;

/** Whether a limit may have this name. */
export const isLimitName = (name: string): boolean => NAME.test(name);

/** The message of the error for a record whose key `name` is not the name of a limit. */
export function unknownLimitMessage(option: string, name: string, names: readonly string[]): string {
  // A client may have chosen the name, so an unusual one is quoted and shortened.
  const shown = isLimitName(name) ? `\`${name}\`` : formatValue(name);
  const known = names.map((one) => `\`${one}\``).join(', ');
  return `Unknown limit ${shown} in \`${option}\`. The limits are ${known}`;
}
