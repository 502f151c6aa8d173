import {
  type AlgorithmName,
  algorithmNames,
  algorithmOf,
  closingNames,
  type LimitSpec,
  mayCredit,
  mayReport,
  toSpec,
} from '../../../store-conformance/src/algorithms.js';
import type { Call, Scenario } from './scenario.js';

const specsOf = (algorithm: AlgorithmName): LimitSpec[] =>
  algorithmOf(algorithm).tiny.map((options) => toSpec(algorithm, options));

const callOnOneKey = (limit: LimitSpec): Call => ({ specs: { limit }, keys: { limit: 'key' } });

const USERS = ['ann', 'ben', 'cat'];

const pairsOf = <One>(all: readonly One[], reach: number): [One, One][] =>
  all.flatMap((one, index) => all.slice(index + 1, index + reach).map((other): [One, One] => [one, other]));

const describeLimits = (...limits: LimitSpec[]) =>
  limits.map(
    ({ algorithm, options, enforce }) =>
      `${enforce === false ? 'unenforced ' : ''}${algorithm}(${Object.entries(options)
        .map(
          ([name, value]) =>
            `${name} ${typeof value === 'object' && !Array.isArray(value) ? JSON.stringify(value) : value}`,
        )
        .join(', ')})`,
  );

/** The same scenario in a store whose leases end. */
function withLeases(scenario: Scenario): Scenario {
  return { ...scenario, name: `${scenario.name}, with leases`, leasesEnd: true };
}

function withOneLimit(limit: LimitSpec): Scenario {
  return { name: `${describeLimits(limit)} alone`, calls: [callOnOneKey(limit)] };
}

/** Units are also given back: used ones, or also more to the present period. */
function withCredits(limit: LimitSpec, credits: 'used' | 'beyond'): Scenario {
  const scenario = withOneLimit(limit);
  return { ...scenario, name: `${scenario.name}, with credits${credits === 'used' ? '' : ' beyond'}`, credits };
}

/** Two limits of one name share a key, so each reads what the other has recorded. */
function withChangedLimit(one: LimitSpec, other: LimitSpec): Scenario {
  return {
    name: `${describeLimits(one, other).join(' or ')} on one key`,
    calls: [callOnOneKey(one), callOnOneKey(other)],
  };
}

function withTwoLimits(one: LimitSpec, other: LimitSpec): Scenario {
  const keys = { one: 'key', other: 'key' };
  return { name: `${describeLimits(one, other).join(' and ')} on one key`, calls: [{ specs: { one, other }, keys }] };
}

/** A limit that never rejects: alone, next to another one that does, and before it is enforced. */
function withoutRejections(limit: LimitSpec, other: LimitSpec): Scenario[] {
  const unenforced: LimitSpec = { ...limit, enforce: false };
  return [withOneLimit(unenforced), withTwoLimits(other, unenforced), withChangedLimit(limit, unenforced)];
}

const closing = ({ algorithm, options }: LimitSpec, blockFor: number) => toSpec(algorithm, { ...options, blockFor });

/**
 * Limits that close their keys: for less than the window and for longer, with every kind of setting, next to another limit and to one that
 * counts rejected attempts, and before or after they get the option.
 */
function withBlocks(own: readonly LimitSpec[]): Scenario[] {
  const [other, limit, ...more] = own as [LimitSpec, LimitSpec, ...LimitSpec[]];
  const [short, long] = [closing(limit, 1), closing(limit, 5)];
  return [
    ...[short, long, ...more.map((one) => closing(one, 5))].map(withOneLimit),
    withTwoLimits(long, other),
    withTwoLimits(COUNTS_REJECTED, long),
    withChangedLimit(limit, long),
    withChangedLimit(short, long),
    withUserKeys(other, long),
  ];
}

const COUNTS_REJECTED = toSpec('rollingWindow', { limit: 2, window: 2, countRejected: true });

/** One limit for all, and one for each of two users. */
function withUserKeys(all: LimitSpec, user: LimitSpec): Scenario {
  const specs = { all, user };
  const calls = ['ann', 'ben'].map((name) => ({ specs, keys: { all: 'all', user: name } }));
  return { name: `${describeLimits(all, user).join(' for all and ')} for each user`, calls };
}

/**
 * The scenarios of an algorithm: each of its settings, each two of them on one key, and pairs with this algorithm and
 * each later one.
 *
 * @param reach How far to look: with 2, settings share a key with the next ones, and the algorithm has itself and the next one as partners.
 */
export function scenariosOf(algorithm: AlgorithmName, reach = algorithmNames.length): Scenario[] {
  const own = specsOf(algorithm);
  const first = algorithmNames.indexOf(algorithm);
  const partners = algorithmNames.slice(first, first + reach);
  const pairings = partners.map((partner): [LimitSpec, LimitSpec] => [own[1]!, specsOf(partner)[2]!]);
  const scenarios = [
    ...own.map(withOneLimit),
    ...pairsOf(own, reach).map(([one, other]) => withChangedLimit(one, other)),
    ...pairings.map(([one, other]) => withTwoLimits(one, other)),
    ...pairings.map(([one, other]) => withUserKeys(one, other)),
    ...own
      .filter(mayReport)
      .slice(0, 2)
      .flatMap((limit, index, all) => withoutRejections(limit, all.at(1 - index)!)),
    ...(closingNames.includes(algorithm) ? withBlocks(own) : []),
    ...own
      .filter((spec) => mayCredit(spec))
      .slice(1, reach)
      .map((limit) => withCredits(limit, 'used')),
    ...own
      .filter((spec) => mayCredit(spec, true))
      .slice(0, reach)
      .map((limit) => withCredits(limit, 'beyond')),
  ];
  const leasing = scenarios.filter(({ calls }) => calls.some(({ specs }) => Object.values(specs).some(hasLease)));
  return [...scenarios, ...leasing.map(withLeases)];
}

const hasLease = ({ options }: LimitSpec) => 'lease' in options;

/** For a full store: one limit for all decides together with one for each of three users. */
function withThreeUsers(all: LimitSpec, user: LimitSpec): Scenario {
  const specs = { all, user };
  const calls = USERS.map((name) => ({ specs, keys: { all: 'all', user: name } }));
  return { name: `${describeLimits(all, user).join(' for all and ')} for each of three users`, calls };
}

/** For a full store: one limit has one key, another one has a key for each user. */
function withFlood(login: LimitSpec, user: LimitSpec): Scenario {
  const users = USERS.map((name) => ({ specs: { user }, keys: { user: name } }));
  const calls = [{ specs: { login }, keys: { login: 'login' } }, ...users];
  return { name: `${describeLimits(login, user).join(' for the login, ')} for each of three users`, calls };
}

/** The scenarios of an algorithm in a store that has no room for all keys. */
export function fullScenariosOf(algorithm: AlgorithmName): Scenario[] {
  const [first, second, third] = specsOf(algorithm) as [LimitSpec, LimitSpec, LimitSpec];
  const scenarioFactories = [withThreeUsers, withFlood];
  return scenarioFactories.flatMap((scenario) => [
    scenario(first, second),
    scenario(second, first),
    scenario(third, second),
  ]);
}
