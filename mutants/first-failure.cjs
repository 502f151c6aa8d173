// Jest's part of the campaign: runs the test files in the order given, and ends the process with the first test that fails.

const { writeFileSync } = require('node:fs');

const report = (failure) => {
  writeFileSync(process.env.ROLLGATE_MUTANT_REPORT, JSON.stringify(failure));
  process.exit(1);
};

module.exports = class FirstFailure {
  onTestCaseResult({ path }, { status, fullName }) {
    if (status === 'failed') report({ kind: 'killed', file: path, test: fullName });
  }

  onTestResult({ path }, { testExecError, failureMessage }) {
    if (testExecError || failureMessage) report({ kind: 'broken', file: path, test: 'the file itself' });
  }
};
