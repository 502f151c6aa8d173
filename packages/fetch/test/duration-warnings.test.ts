import { bundleCopies } from '@rollgate/test-support/fresh-copies';

type Packages = { '@rollgate/fetch': typeof import('@rollgate/fetch') };

let load: () => Packages;
beforeAll(async () => {
  load = await bundleCopies<Packages>('@rollgate/fetch');
});
afterEach(() => jest.restoreAllMocks());

/** Returns the warnings of a new copy of the packages, because each warns once. */
function warningsOf(options: object): string[] {
  const warnings: string[] = [];
  jest.spyOn(process, 'emitWarning').mockImplementation((message) => void warnings.push(String(message)));
  load()['@rollgate/fetch'].createFetch(options);
  return warnings;
}

test.each([{}, { maxBlock: '300ms' }, { maxBlock: '1s', lease: '60ms' }, { maxBlock: '1h', lease: '30s' }])(
  'durations with units, or none, cause no warning: %j',
  (options) => {
    expect(warningsOf(options)).toEqual([]);
  },
);
