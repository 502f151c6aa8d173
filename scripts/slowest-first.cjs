const { default: Sequencer } = require('@jest/test-sequencer');

/** It runs more than twice as long as any other file, so it starts first. Its browser takes half of one core. */
const FIRST = /playground.test.page\.test/;

/**
 * Files that need much memory besides their worker. They start when the browser of the first file has ended, most of them
 * in the last third of the run.
 */
const HEAVY_FIRST = [
  /postgres.test.conformance/,
  /\btest.packages\.test/,
  /store-conformance.test.explorer\.test/,
  /examples.test.codemod/,
];
const HEAVY_LATER = [
  /host-tests.test.wire/,
  /redis.test.processes/,
  /cli.test.memory/,
  /examples.test.examples/,
  /redis.test.client-options/,
  /redis.test.cluster\.test/,
  /examples.test.migration/,
  /\btest.docs\.test/,
  /core.test.memory-store-processes/,
  /cli.test.html/,
];

/** Files that mostly wait: for deadlines of silent servers, and for slots of a queue. */
const WAITING = [
  /core.test.store-failure-outage/,
  /redis.test.(faults-|cluster-outage|fair-(processes|schedules)|sentinel|resent)/,
  /http.test.(delay|failing-functions)/,
];

/** Files that compute for several seconds. */
const LONG = [
  /redis.test.conformance/,
  /store-conformance.test.custom-store/,
  /http.test.warnings/,
  /test-support.test.process-end/,
  /redis.test.simulation/,
  /store-conformance.test.(broken-stores|memory-store)/,
  /playground.test.server/,
];

/** The last files are short, so that no core waits for the other in the end. */
const END = 0.9;

const rankOf = (parts, path) => parts.findIndex((part) => part.test(path));

/** Removes the files that match from `tests`, and returns them in the order of the patterns. */
function take(tests, parts) {
  const ranked = tests.map((test) => ({ test, rank: rankOf(parts, test.path) }));
  tests.splice(0, tests.length, ...ranked.filter(({ rank }) => rank < 0).map(({ test }) => test));
  const taken = ranked.filter(({ rank }) => rank >= 0).toSorted((one, other) => one.rank - other.rank);
  return taken.map(({ test }) => test);
}

/** Inserts `some` at equal distances into `others`, between two parts of their number. */
function spread(some, others, start = 0, end = END) {
  if (others.length === 0) return some;
  const placeOf = (index) => Math.floor(others.length * (start + ((end - start) * index) / some.length));
  return others.flatMap((other, place) => [...some.filter((_, index) => placeOf(index) === place), other]);
}

/**
 * Starts the longest file first, and spreads those that wait over the whole run. So at any time few workers wait, and the
 * others keep both cores busy. Within each group, Jest's own order stays, which starts with the files that took longest
 * last time.
 */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const rest = super.sort(tests);
    const groups = [[FIRST], WAITING, HEAVY_FIRST, HEAVY_LATER, LONG].map((parts) => take(rest, parts));
    const [first, waiting, heavyFirst, heavyLater, long] = groups;
    const computing = spread(heavyLater, spread(heavyFirst, spread(long, rest), 0.4, 0.6), 0.7);
    return [...first, ...spread(waiting, computing)];
  }
};
