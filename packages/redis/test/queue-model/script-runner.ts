import type { Operation } from '../../src/operations/operations.js';
import { toScriptArguments } from '../../src/script/script-arguments.js';
import { ScriptBuilder } from '../../src/script/script-builder.js';
import { queuesLua } from '../../src/waiting/queues.generated.js';

/** Runs a script on states of keys. The time, the subscribers and the expiry of keys are those of the model. */
export interface BinaryRedis {
  callBuffer(command: string, ...args: (string | Buffer)[]): Promise<unknown>;
}

/** The operations of one script call, and the state before it. */
export interface Step {
  readonly nowMicros: number;
  /** What `DUMP` returns for each key, or an empty text. */
  readonly dumps: readonly string[];
  /** The owners whose messages arrive. */
  readonly subscribed: readonly string[];
  readonly operations: readonly Operation[];
}

/** What a script call has left and returned. */
export interface Outcome {
  readonly dumps: readonly string[];
  readonly reply: string;
  /** The ids of the tickets in each queue, and the text of each key that has one. */
  readonly places: readonly string[];
  /** Owners and texts. */
  readonly messages: readonly (readonly [owner: string, text: string])[];
}

/** Changes the text of a script, to plant a defect. */
export type Defect = (script: string) => string;

/** Runs many script calls in one call of the server. */
export class ScriptRunner {
  readonly #redis: BinaryRedis;
  readonly #keys: readonly string[];
  readonly #defect: Defect;
  readonly #scripts = new ScriptBuilder('packed');
  readonly #wrapped = new Map<string, string>();

  constructor(redis: BinaryRedis, keys: readonly string[], defect: Defect = (script) => script) {
    this.#redis = redis;
    this.#keys = keys;
    this.#defect = defect;
    this.#scripts.addQueues(queuesLua);
  }

  /** Runs the steps, each on its own state. */
  async run(steps: readonly Step[]): Promise<Outcome[]> {
    const encoded = steps.map(({ operations }) => toScriptArguments(operations));
    // All steps run in the script with all parts that any of them needs.
    const parts = encoded.reduce((all, one) => all | one.parts, 0);
    const args: (string | Buffer)[] = [String(steps.length)];
    for (const [index, { nowMicros, dumps, subscribed }] of steps.entries()) {
      const { keys, values } = encoded[index]!;
      args.push(String(nowMicros), ...dumps.map((dump) => Buffer.from(dump, 'latin1')), subscribed.join(' '));
      args.push(String(keys.length), ...keys, String(values.length), ...values);
    }
    const script = this.#wrap(this.#scripts.get(parts).text);
    const keys = [String(this.#keys.length), ...this.#keys];
    const reply = (await this.#redis.callBuffer('EVAL', script, ...keys, ...args)) as Buffer[][];
    return reply.map((parts) => this.#toOutcome(parts.map((part) => part.toString('latin1'))));
  }

  #toOutcome([reply, ...rest]: string[]): Outcome {
    const count = this.#keys.length;
    const messages: [string, string][] = [];
    for (let index = 2 * count; index < rest.length; index += 2) messages.push([rest[index]!, rest[index + 1]!]);
    return { reply: reply!, dumps: rest.slice(0, count), places: rest.slice(count, 2 * count), messages };
  }

  #wrap(text: string): string {
    let wrapped = this.#wrapped.get(text);
    if (wrapped === undefined) {
      wrapped = `${BEFORE}${this.#defect(text)}${AFTER}`;
      this.#wrapped.set(text, wrapped);
    }
    return wrapped;
  }
}

const BEFORE = `
local real, arguments, now, subscribed, messages = redis, ARGV, 0, '', {}
local fake = {}
function fake.TIME()
  return { string.format('%d', math.floor(now / 1000000)), string.format('%d', now % 1000000) }
end
function fake.PEXPIRE() return 1 end
function fake.PEXPIREAT() return 1 end
function fake.PTTL() return 1000 end
function fake.SET(key, value) return real.call('SET', key, value) end
function fake.PUBLISH(channel, text)
  messages[#messages + 1] = string.sub(channel, 10)
  messages[#messages + 1] = text
  return 1
end
function fake.PUBSUB(_, channel)
  return { channel, string.find(subscribed, string.sub(channel, 10), 1, true) and 1 or 0 }
end
local function call(command, ...)
  if fake[command] then return fake[command](...) end
  return real.call(command, ...)
end
local modeled = setmetatable({ call = call, pcall = call }, { __index = real })
local function run(KEYS, ARGV, redis)
`;

const AFTER = `
end
local place, outcomes, names = 2, {}, KEYS
local function next_argument()
  place = place + 1
  return arguments[place - 1]
end
local function next_list()
  local list = {}
  for index = 1, tonumber(next_argument()) do list[index] = next_argument() end
  return list
end
for step = 1, tonumber(arguments[1]) do
  now, messages = tonumber(next_argument()), {}
  for _, name in ipairs(names) do
    local dump = next_argument()
    real.call('DEL', name)
    if dump ~= '' then real.call('RESTORE', name, 0, dump) end
  end
  subscribed = next_argument()
  local keys = next_list()
  local reply = run(keys, next_list(), modeled)
  local outcome = { type(reply) == 'table' and 'error ' .. (reply[2] or reply.err) or reply }
  for index, name in ipairs(names) do
    outcome[index + 1] = real.call('DUMP', name) or ''
    local is_queue = real.call('TYPE', name).ok == 'zset'
    local members = is_queue and real.call('ZRANGEBYSCORE', name, 0, '+inf') or {}
    for place, member in ipairs(members) do members[place] = string.match(member, '^[^:]+:(%d+)') end
    local is_text = string.sub(name, -3) == '/lb'
    outcome[#names + index + 1] = is_text and (real.call('GET', name) or '') or table.concat(members, ' ')
  end
  for _, part in ipairs(messages) do outcome[#outcome + 1] = part end
  outcomes[step] = outcome
end
return outcomes
`;
