import { join } from 'node:path';
import { compile } from '@rollgate/test-support/compile';

// Alone, because the adapter for Express also adds the decision to the type of a request.
test('the decision of a request and the methods of a controller are typed', async () => {
  expect(await compile(join(__dirname, 'fixtures/typed-request.ts'), '--strict')).toBe('');
});
