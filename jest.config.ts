/** @jest-config-loader esbuild-register */
import type { Config } from 'jest';

const config: Config = {
  roots: ['<rootDir>/packages', '<rootDir>/examples'],
  testMatch: ['**/test/**/*.test.ts'],
  globalSetup: '<rootDir>/packages/test-support/src/jest-global-setup.ts',
  transform: {
    '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } } }],
  },
  moduleNameMapper: {
    // Tests run on the sources; what is published is tested as tarballs, by packages.test.ts.
    '^@rollgate/core/store$': '<rootDir>/packages/core/src/store-api.ts',
    '^@rollgate/(.+)$': '<rootDir>/packages/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
};

export default config;
