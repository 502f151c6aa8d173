// Changes a file in many ways, and lists the changes that no test notices: npm run mutants -- packages/core/src/limits/token-bucket.ts
// Stryker works on a copy of the repository, and runs only the tests that cover a change.
const [, name = 'core'] = /packages\/([\w-]+)\//.exec(process.argv.at(-1)) ?? [];
/** The folders whose tests look for defects of the package. The conformance suite has the oracles of all limits. */
const folders = ['core', 'calendar', 'fetch'].includes(name) ? [name, 'store-conformance'] : [name];

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  plugins: ['@stryker-mutator/jest-runner'],
  // Stryker would rewrite its paths with the API of TypeScript, which version 7 lacks. The tests do not read it.
  tsconfigFile: 'none',
  testRunner: 'jest',
  jest: {
    configFile: 'jest.config.ts',
    config: { roots: folders.map((folder) => `<rootDir>/packages/${folder}/test`) },
  },
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  ignorePatterns: ['bench', 'docs', 'examples', 'reports'],
  concurrency: 2,
  dryRunTimeoutMinutes: 60,
  timeoutMS: 60_000,
  reporters: ['clear-text', 'html', 'json'],
  clearTextReporter: { allowColor: false, reportTests: false },
};
