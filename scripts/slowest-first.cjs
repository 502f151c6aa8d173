const { default: Sequencer } = require('@jest/test-sequencer');

/** The files that take longest. A run that starts one of them last keeps one core waiting for the other. */
const SLOWEST = [
  'redis/test/conformance.test.ts',
  'core/test/packages.test.ts',
  'core/test/docs.test.ts',
  'playground/test/',
  'redis/test/processes.test.ts',
  'redis/test/faults-',
  'core/test/store-failure-outage.test.ts',
  'store-conformance/test/',
  'cli/test/',
];

const rankOf = ({ path }) => {
  const rank = SLOWEST.findIndex((part) => path.includes(part));
  return rank < 0 ? SLOWEST.length : rank;
};

/** The slowest files first, also in the first run in a clone. Later, Jest knows how long each one took. */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const isKnown = sorted.some(({ duration }) => duration !== undefined);
    return isKnown ? sorted : sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
};
