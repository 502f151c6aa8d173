import { type AlgorithmName, algorithmNames, type LimitSpec } from '../algorithms.js';
import type { Call, Scenario } from './scenario.js';
import { smallSettings } from './small-settings.js';

const specsOf = (algorithm: AlgorithmName): LimitSpec[] =>
  smallSettings[algorithm].map((options) => ({ algorithm, options }) as LimitSpec);

const onOneKey = (limit: LimitSpec): Call => ({ specs: { limit }, keys: { limit: 'key' } });

const USERS = ['ann', 'ben', 'cat'];

const pairs = <One>(all: readonly One[]): [One, One][] =>
  all.flatMap((one, index) => all.slice(index + 1).map((other): [One, One] => [one, other]));

const show = (...limits: LimitSpec[]) =>
  limits.map(
    ({ algorithm, options }) =>
      `${algorithm}(${Object.entries(options)
        .map((one) => one.join(' '))
        .join(', ')})`,
  );

/** The same scenario in a store whose leases end. */
function withLeases(scenario: Scenario): Scenario {
  return { ...scenario, name: `${scenario.name}, with leases`, leasesEnd: true };
}

function alone(limit: LimitSpec): Scenario {
  return { name: `${show(limit)} alone`, calls: [onOneKey(limit)] };
}

/** Two limits of one name share a key: what the one records, the other reads. */
function changed(one: LimitSpec, other: LimitSpec): Scenario {
  return { name: `${show(one, other).join(' or ')} on one key`, calls: [onOneKey(one), onOneKey(other)] };
}

function together(one: LimitSpec, other: LimitSpec): Scenario {
  const keys = { one: 'key', other: 'key' };
  return { name: `${show(one, other).join(' and ')} on one key`, calls: [{ specs: { one, other }, keys }] };
}

/** One limit for all, and one for each of two users. */
function onTwoKeys(all: LimitSpec, user: LimitSpec): Scenario {
  const specs = { all, user };
  const calls = ['ann', 'ben'].map((name) => ({ specs, keys: { all: 'all', user: name } }));
  return { name: `${show(all, user).join(' for all and ')} for each user`, calls };
}

/**
 * What is explored of an algorithm: each of its settings, each two that share a key, and pairs with it and those after
 * it.
 */
export function scenariosOf(algorithm: AlgorithmName): Scenario[] {
  const own = specsOf(algorithm);
  const partners = algorithmNames.slice(algorithmNames.indexOf(algorithm));
  const pairings = partners.map((partner): [LimitSpec, LimitSpec] => [own[1]!, specsOf(partner)[2]!]);
  const scenarios = [
    ...own.map(alone),
    ...pairs(own).map(([one, other]) => changed(one, other)),
    ...pairings.map(([one, other]) => together(one, other)),
    ...pairings.map(([one, other]) => onTwoKeys(one, other)),
  ];
  const leasing = scenarios.filter(({ calls }) => calls.some(({ specs }) => Object.values(specs).some(hasLease)));
  return [...scenarios, ...leasing.map(withLeases)];
}

const hasLease = ({ options }: LimitSpec) => 'lease' in options;

/** For a full store: one limit for all decides together with one for each of three users. */
function crowd(all: LimitSpec, user: LimitSpec): Scenario {
  const specs = { all, user };
  const calls = USERS.map((name) => ({ specs, keys: { all: 'all', user: name } }));
  return { name: `${show(all, user).join(' for all and ')} for each of three users`, calls };
}

/** For a full store: one limit has one key, another one gets as many as there are users. */
function flood(login: LimitSpec, user: LimitSpec): Scenario {
  const users = USERS.map((name) => ({ specs: { user }, keys: { user: name } }));
  const calls = [{ specs: { login }, keys: { login: 'login' } }, ...users];
  return { name: `${show(login, user).join(' for the login, ')} for each of three users`, calls };
}

/** What is explored of an algorithm in a store that holds fewer keys than there are. */
export function fullScenariosOf(algorithm: AlgorithmName): Scenario[] {
  const [first, second, third] = specsOf(algorithm) as [LimitSpec, LimitSpec, LimitSpec];
  const both = [crowd, flood];
  return both.flatMap((scenario) => [scenario(first, second), scenario(second, first), scenario(third, second)]);
}
