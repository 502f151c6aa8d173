// Jest's part of the campaign: runs the test files in the order given, and ends the process with the first test that fails.

const { writeFileSync } = require('node:fs');

const report = (failure) => {
  writeFileSync(process.env.ROLLGATE_MUTANT_REPORT, JSON.stringify(failure));
  process.exit(1);
};

module.exports = class FirstFailure {
  onTestCaseResult({ path }, { status, fullName, failureMessages }) {
    if (status !== 'failed') return;
    const mayBeChance = failureMessages.some((message) =>
      /time|within|waited|ECONN/i.test(message.split('\n    at ')[0]),
    );
    report({ kind: 'killed', file: path, test: fullName, mayBeChance });
  }

  onTestResult({ path }, { testExecError, failureMessage }) {
    if (testExecError || failureMessage) report({ kind: 'broken', file: path, test: 'the file itself' });
  }
};
