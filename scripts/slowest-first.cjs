const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The files that take longest, because a run that starts one of them last keeps one core waiting for the other. Until the
 * browser of `page.test.ts` ends, tests of Redis run next to it, which mostly wait. Tests that need much memory come
 * afterwards, far from each other: compilers, tests that load every client, further browsers and processes with large logs.
 */
const SLOWEST = [
  /playground.test.page\.test/,
  /redis.test.conformance\.test/,
  /redis.test.faults-/,
  /redis.test.processes\.test/,
  /core.test.store-failure-outage/,
  /redis.test.(?!client-options|cluster\.|keys)/,
  /test-support.test/,
  /(express|fastify).test/,
  /core.test.packages\.test/,
  /examples.test.(?!migration)/,
  /(http|hono|koa|nestjs|web|node).test/,
  /store-conformance.test.(?!explorer\.)/,
  /store-conformance.test/,
  /core.test.(?!docs)[a-l]/,
  /host-tests.test.wire/,
  /host-tests.test/,
  /redis.test.client-options/,
  /core.test.(?!docs)/,
  /redis.test/,
  /cli.test.(?!html|memory|untrusted)/,
  /core.test.docs\.test/,
  /playground.test.server/,
  /examples.test/,
  /cli.test.untrusted/,
  /cli.test.html/,
  /playground.test/,
  /cli.test.memory/,
];

const rankOf = ({ path }) => {
  const rank = SLOWEST.findIndex((part) => part.test(path));
  return rank < 0 ? SLOWEST.length : rank;
};

/** Within each of these groups, Jest's own order stays, which starts with the files that took longest last time. */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
};
