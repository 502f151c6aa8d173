import type { ASSIGNED_SCOPES } from './assigned-scopes.js';
import type { Scope } from './scope.js';
import type { SCOPES } from './scopes.js';

/** A change that breaks a guarantee, and the scope in which the explorer finds it. */
export interface PlantedDefect {
  readonly scope: keyof typeof SCOPES | keyof typeof ASSIGNED_SCOPES;
  /** What the script contains, and what takes its place. By default, the script stays. */
  readonly from?: string;
  readonly to?: string;
  /** What the processes do instead. */
  readonly changes?: Partial<Scope>;
  /**
   * The order in which the explorer extends histories.
   *
   * @defaultValue `'newest'`
   */
  readonly order?: 'any';
}

const ORDER = 'order of three callers';
const COSTS = 'order of costs';
const QUEUES = 'order in two queues';
const CHECKS = 'order of checks';
const OVERTAKING = 'order with overtaking checks';
const ASSIGNED = 'order of assigned starts';
const ASSIGNED_COSTS = 'order of assigned starts for costs';
const ASSIGNED_BOTH = 'order behind a window and a bucket';
const ASSIGNED_FAULTS = 'faults of assigned starts';

export const DEFECTS: Readonly<Record<string, PlantedDefect>> = {
  'the last ticket is the first one': {
    scope: ORDER,
    from: "redis.call('ZRANGEBYSCORE', line[index], '0', '+inf', 'WITHSCORES', 'LIMIT', '0', '1')",
    to: "redis.call('ZREVRANGEBYSCORE', line[index], '+inf', '0', 'WITHSCORES', 'LIMIT', '0', '1')",
  },
  'a new ticket overtakes': {
    scope: COSTS,
    from: 'if taken then',
    to: 'if false then',
  },
  'a lease never ends': {
    scope: 'faults without messages',
    from: 'if ends <= now or ends > now + 1 + 2 ^ span * 1000 then return false end',
    to: '',
  },
  'a turn comes before its time': {
    scope: ORDER,
    from: "string.format('%d %d %d,', at,",
    to: "string.format('%d %d %d,', line.now,",
  },
  'a turn is not recorded': {
    scope: ORDER,
    from: 'injected_now = injected_now, mode = 1 }',
    to: 'injected_now = injected_now, mode = 0 }',
  },
  'turns have no horizon': {
    scope: ORDER,
    from: 'local start = wait <= line.horizon and may_start',
    to: 'local start = may_start',
  },
  'each ticket costs one unit': { scope: COSTS, from: 'list[#list + 1] = tonumber(cost)', to: 'list[#list + 1] = 1' },
  'only the first rule counts': {
    scope: QUEUES,
    from: 'if own_cost == 0 then wait, delay = 0, 0 end',
    to: 'if own_cost == 0 or index > 1 then wait, delay = 0, 0 end',
  },
  'a check overtakes': {
    scope: CHECKS,
    from: 'local waits = not is_empty(line) and',
    to: 'local waits = false and',
  },
  'a check counts from the newest hit': {
    scope: OVERTAKING,
    from: 'hits.is_dated and math.max(now, newest - MAX_DATED) or newest',
    to: 'newest',
  },
  'a log with starts ahead looks like others': {
    scope: OVERTAKING,
    from: 'hits.is_dated and FORM + IS_DATED or FORM',
    to: 'FORM',
  },
  'a start ahead drops hits that still count': {
    scope: COSTS,
    from: 'at - keep - (hits.is_dated and MAX_DATED or 0)',
    to: 'at - keep',
  },
  'a start ahead ends the log before it': { scope: ORDER, from: 'now - (rule.is_dated and MAX_DATED or 0)', to: 'now' },
  'no ticket is ever granted': { scope: ORDER, from: 'turns < line.max_turns)', to: 'turns < 0)' },
  'an action starts after its turn': { scope: 'faults of two callers', changes: { mayStartLate: true } },
  'a check looks into no queue': {
    scope: CHECKS,
    from: "'0', '+inf') > 0 then line = ''",
    to: "'0', '+inf') > 9 then line = ''",
  },
  'a check misses the first queue': {
    scope: CHECKS,
    from: 'index = next_key - queue_count + 1,',
    to: 'index = next_key - queue_count + 2,',
  },
  'later starts do not count': {
    scope: 'faults and a long horizon',
    from: 'local free = limit - (hits.total - dropped)',
    to: 'local free = limit - (hits.is_dated and log.total_before(hits, log.first_after(hits, now)) or hits.total) + dropped',
  },
  'a start is recorded before a later one': {
    scope: COSTS,
    from: 'at, time = newest, present(hits, now)',
    to: 'at, time = now, present(hits, now)',
  },
  'turns are granted too early': {
    scope: ORDER,
    from: 'wait <= line.horizon and may_start',
    to: 'wait <= 2 * line.horizon and may_start',
  },
  'a refund frees the starts behind it, too': {
    scope: ASSIGNED_FAULTS,
    from: 'if ends < free_at then',
    to: 'if false then',
  },
  'the last start stays taken when it is refunded': {
    scope: ASSIGNED_FAULTS,
    from: '  free_at = at\n',
    to: '',
  },
  'an action takes one start for all of its units': {
    scope: ASSIGNED_COSTS,
    from: 'delay + cost * interval',
    to: 'delay + interval',
  },
  'a bucket assigns one start more than its capacity': {
    scope: ASSIGNED,
    from: 'delay - (limit + 1 - cost) * interval',
    to: 'delay - (limit + 2 - cost) * interval',
  },
  'an assigned start is not recorded': {
    scope: ASSIGNED,
    from: 'injected_now = injected_now, mode = 1 }',
    to: 'injected_now = injected_now, mode = 0 }',
  },
  'the last caller gets the first assigned start': {
    scope: ASSIGNED,
    from: "redis.call('ZRANGEBYSCORE', line[index], '0', '+inf', 'WITHSCORES', 'LIMIT', '0', '1')",
    to: "redis.call('ZREVRANGEBYSCORE', line[index], '+inf', '0', 'WITHSCORES', 'LIMIT', '0', '1')",
  },
  'a window next to a bucket does not count': {
    scope: ASSIGNED_BOTH,
    from: 'if own_cost == 0 then wait, delay = 0, 0 end',
    to: 'if own_cost == 0 or index == 1 then wait, delay = 0, 0 end',
  },
  'a bucket behind a window assigns no start': {
    scope: ASSIGNED_BOTH,
    from: 'if own_cost == 0 then wait, delay = 0, 0 end',
    to: 'if own_cost == 0 or index == 2 then wait, delay = 0, 0 end',
  },
  'a process that has ended holds up assigned starts': {
    scope: 'faults of assigned starts without messages',
    from: 'if ends <= now or ends > now + 1 + 2 ^ span * 1000 then return false end',
    to: '',
  },
  'a caller uses an assigned start that has passed': { scope: ASSIGNED_FAULTS, changes: { mayStartLate: true } },
  'a late caller goes behind all others': {
    scope: ASSIGNED_FAULTS,
    from: 'ticket.number = number\n',
    to: 'ticket.number = next_number(line)\n',
    order: 'any', // The order of the newest takes more than 100,000 states.
  },
  'a check passes callers that wait for a start': {
    scope: ASSIGNED_COSTS,
    from: 'local waits = not is_empty(line) and',
    to: 'local waits = false and',
  },
};
