import { type Example, examplesIn } from './support/page-examples.js';
import { removePrograms, runExample, TIMEOUT_MS, typeCheck } from './support/page-programs.js';

afterAll(removePrograms);

const page = (...lines: string[]) => examplesIn('page.md', ['# A page', '', ...lines]);
const example = (...code: string[]): Example => page('```ts', ...code, '```')[0]!;

test.each([
  ['states a wrong value', ['1 + 1; // => 2', '1 + 1; // => 3'], /page\.md:5/],
  ['rejects a promise that is not awaited', ["Promise.reject(new Error('forgotten'));"], /page\.md:4.*forgotten/s],
  ['states a value on a separate line', ['1 + 1;', '// => 2'], /on one line, got: \/\/ => 2/],
  [
    'has a test that fails',
    ["import { test } from 'node:test';", "test('one', async () => { throw new Error('broken'); });"],
    /page\.md:5 failed.*broken/s,
  ],
  [
    'has a worker that responds with an error',
    ["export default { fetch: () => new Response('', { status: 500 }) };"],
    /page\.md:3 failed.*responded with 500/s,
  ],
  [
    'imports a package that its reader has not installed',
    [
      "import { rateLimit } from '@rollgate/express';",
      "import { rollingWindow } from '@rollgate/core';",
      'rateLimit({ limits: rollingWindow({ limit: 1, window: 1000 }) });',
    ],
    /Cannot find package '@rollgate\/core'/,
  ],
])(
  'an example fails when it %s',
  async (_, code, message) => {
    await expect(runExample(example(...code))).rejects.toThrow(message);
  },
  TIMEOUT_MS,
);

test(
  'an example fails when it does not compile',
  async () => {
    await expect(typeCheck([example("const text: string = 'x';", 'text.no;')])).rejects.toThrow(
      /page\.md\/test\/3\.ts\(5,/,
    );
  },
  TIMEOUT_MS,
);

test('an example that continues another one is part of its program', async () => {
  const [first, ...others] = page(
    '```ts',
    'const one = 1;',
    '```',
    '',
    'Then:',
    '',
    '```ts continues',
    'one; // => 2',
    '```',
  );
  expect(others).toEqual([]);
  await expect(runExample(first!)).rejects.toThrow(/page\.md:10/);
  expect(() => page('```ts continues', '1;', '```')).toThrow('page.md:3: there is no code above it to continue');
});

test(
  'an example may leave servers open, on a port that is taken',
  () =>
    runExample(
      example(
        "import { createServer } from 'node:http';",
        'const first = createServer().listen(3000);',
        'const second = createServer().listen({ port: 3000 });',
        'first === second; // => false',
      ),
    ),
  TIMEOUT_MS,
);
