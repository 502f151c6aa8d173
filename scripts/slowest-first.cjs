const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The files that take longest, because a run that starts one of them last keeps one core waiting for the other. Until the
 * browser of `page.test.ts` ends, tests of Redis run beside it, which mostly wait. Compilers and further browsers come
 * afterwards, because each of them needs much memory.
 */
const SLOWEST = [
  'playground/test/page.test.ts',
  'redis/test/conformance.test.ts',
  'redis/test/faults-',
  'redis/test/processes.test.ts',
  'core/test/store-failure-outage.test.ts',
  'redis/test/',
  'test-support/test/',
  'core/test/packages.test.ts',
  'examples/test/',
  'cli/test/',
  'store-conformance/test/',
  'core/test/docs.test.ts',
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
