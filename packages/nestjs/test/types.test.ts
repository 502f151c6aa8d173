import { join } from 'node:path';
import { compile } from '@rollgate/test-support/compile';

// Alone, because the adapter for Express also adds the decision to the type of a request.
test.each(['typed-request.ts', 'typed-fastify-request.ts'])('the types of %s are right', async (file) => {
  expect(await compile(join(__dirname, 'fixtures', file), '--strict')).toBe('');
});
