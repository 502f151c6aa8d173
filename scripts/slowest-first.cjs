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

/**
 * Files that Jest has no duration of come first, the slowest ones before the others. Jest orders the rest by their last duration.
 */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const isKnown = ({ duration }) => duration !== undefined;
    const unknown = sorted.filter((test) => !isKnown(test)).toSorted((one, other) => rankOf(one) - rankOf(other));
    return [...unknown, ...sorted.filter(isKnown)];
  }
};
