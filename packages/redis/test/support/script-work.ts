import type { IoredisClient } from '@rollgate/redis';
import type { Redis } from 'ioredis';
import { createScriptEditingClient } from './script-editing-client.js';

/**
 * Counts what scripts do, by default the values that they get from Redis, because a command may return any number of them.
 * `counted` is the Lua expression of what one `command` with its `reply` counts.
 */
export class ScriptWork {
  readonly client: IoredisClient;
  /** What each script has counted. */
  readonly counts: number[] = [];

  constructor(client: Redis, counted = "type(reply) == 'table' and #reply or 1") {
    const before = BEFORE.replace('COUNTED', () => counted);
    const edited = createScriptEditingClient(client, (script) => `${before}${script}${AFTER}`);
    this.client = {
      ...edited,
      evalsha: async (...args) => this.#unwrap(await edited.evalsha(...args)),
      eval: async (...args) => this.#unwrap(await edited.eval(...args)),
    };
  }

  /** What the scripts have counted while `operation` ran. An integer or a text is one value. */
  async valuesOf(operation: () => Promise<unknown>): Promise<number> {
    const before = this.counts.length;
    await operation();
    return this.counts.slice(before).reduce((sum, count) => sum + count, 0);
  }

  #unwrap(reply: unknown): unknown {
    const [result, count] = reply as [unknown, number];
    this.counts.push(count);
    return result;
  }
}

const BEFORE = `
local real, values = redis, 0
local function counted(run)
  return function(command, ...)
    local reply = run(command, ...)
    values = values + (COUNTED)
    return reply
  end
end
local redis = setmetatable({ call = counted(real.call), pcall = counted(real.pcall) }, { __index = real })
local function script()
`;

const AFTER = `
end
local reply = script()
return { reply, values }`;
