// Jest's part of the campaign: runs the test files in the order given, and ends the process with the first test that fails.

const { writeFileSync } = require('node:fs');

/** The messages of a timeout or a lost connection, which a busy machine may cause without a defect. */
const CHANCE =
  /\b(?:exceeded timeout of|expected within \d|waited in vain|did not \w+ within|timed out|TimeoutError|ECONN[A-Z]+)/i;

const report = (failure) => {
  writeFileSync(process.env.ROLLGATE_MUTANT_REPORT, JSON.stringify(failure));
  process.exit(1);
};

module.exports = class FirstFailure {
  onTestCaseResult({ path }, { status, fullName, failureMessages }) {
    if (status !== 'failed') return;
    const mayBeChance = failureMessages.some((message) => CHANCE.test(message.split('\n    at ')[0]));
    report({ kind: 'killed', file: path, test: fullName, mayBeChance });
  }

  onTestResult({ path }, { testExecError, failureMessage }) {
    if (testExecError || failureMessage) report({ kind: 'broken', file: path, test: 'the file itself' });
  }
};
