import type { Redis } from 'ioredis';

const KEY = '10.0.0.0';

/**
 * Captures the command that `check` sends for one key. Returns a function that sends the same script and arguments for
 * another key, without the library around it.
 */
export async function captureEvalsha(
  client: Redis,
  check: (key: string) => Promise<unknown>,
): Promise<(key: string) => Promise<unknown>> {
  const sent: { readonly name: string; readonly args: readonly unknown[] }[] = [];
  const { sendCommand } = client;
  client.sendCommand = (command, ...rest) => {
    sent.push(command);
    return sendCommand.call(client, command, ...rest);
  };
  await check(KEY);
  Reflect.deleteProperty(client, 'sendCommand'); // Uncovers the method of the class again.

  const [command, ...others] = sent;
  if (command?.name !== 'evalsha' || others.length > 0) {
    throw new Error(`Expected one EVALSHA, got ${sent.map(({ name }) => name).join(', ')}`);
  }
  const args = command.args as string[];
  const place = args.findIndex((arg) => arg.includes(KEY));
  const [before, after] = args[place]!.split(KEY);
  return (key) => {
    const ownArgs = args.slice();
    ownArgs[place] = `${before}${key}${after}`;
    return client.evalsha(...(ownArgs as [string, string]));
  };
}
