const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The files that take longest, because a run that starts one of them last keeps one core waiting for the other. Until the
 * browser of `page.test.ts` ends, tests of Redis run beside it, which mostly wait. Tests that need much memory come
 * afterwards, few of them at once: compilers, further browsers, and tests that load every client.
 */
const SLOWEST = [
  /playground.test.page\.test/,
  /redis.test.conformance\.test/,
  /redis.test.faults-/,
  /redis.test.processes\.test/,
  /core.test.store-failure-outage/,
  /redis.test.(?!client-options|cluster\.|keys)/,
  /test-support.test/,
  /core.test.packages\.test/,
  /(express|fastify).test/,
  /examples.test/,
  /cli.test/,
  /store-conformance.test/,
  /core.test.docs\.test/,
];

const rankOf = ({ path }) => {
  const rank = SLOWEST.findIndex((part) => part.test(path));
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
