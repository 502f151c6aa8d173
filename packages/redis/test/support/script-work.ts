import type { IoredisClient } from '@rollgate/redis';
import type { Redis } from 'ioredis';
import { createScriptEditingClient } from './script-editing-client.js';

/** Counts what scripts get from Redis, because a command may return any number of values. */
export class ScriptWork {
  readonly client: IoredisClient;
  #values = 0;

  constructor(client: Redis) {
    const edited = createScriptEditingClient(client, (script) => `${BEFORE}${script}${AFTER}`);
    this.client = {
      ...edited,
      evalsha: async (...args) => this.#unwrap(await edited.evalsha(...args)),
      eval: async (...args) => this.#unwrap(await edited.eval(...args)),
    };
  }

  /** How many values the commands of the scripts returned while `operation` ran. An integer or a text is one value. */
  async valuesOf(operation: () => Promise<unknown>): Promise<number> {
    const before = this.#values;
    await operation();
    return this.#values - before;
  }

  #unwrap(reply: unknown): unknown {
    const [result, values] = reply as [unknown, number];
    this.#values += values;
    return result;
  }
}

const BEFORE = `
local real, values = redis, 0
local function counted(run)
  return function(...)
    local reply = run(...)
    values = values + (type(reply) == 'table' and #reply or 1)
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
