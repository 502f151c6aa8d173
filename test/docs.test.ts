import { PostgresServer, startRedis } from '@rollgate/test-support';
import { type RestFront, startRestFront } from '@rollgate/test-support/rest-front';
import { type Example, examplesIn, linesOf, nameOf, pages, SOURCES } from './support/page-examples.js';
import {
  registerJestTests,
  removePrograms,
  runExample,
  runTogether,
  TIMEOUT_MS,
  timeoutOf,
  typeCheck,
} from './support/page-programs.js';

const NOTES = ['', 'jest', 'fragment'];

/** The pages whose code other tests verify: pages.test.ts and migration.test.ts. */
const VERIFIED_ELSEWHERE = /^docs\/(?:recipes\/|migrating-from-)/;

const examples = [...pages(), ...SOURCES].flatMap((file) => examplesIn(file));
const wholeExamples = examples.filter(({ note }) => note !== 'fragment');
const runExamples = wholeExamples.filter(({ note }) => note === '');

/** A Redis server for the examples that need one, and its HTTP front for edge runtimes. */
let redis: Awaited<ReturnType<typeof startRedis>>;
let front: RestFront;
let postgres: PostgresServer;

beforeAll(async () => {
  redis = await startRedis();
  front = await startRestFront(redis.url);
  postgres = await PostgresServer.start({ fsync: 'off' });
});

afterAll(async () => {
  removePrograms();
  await front.stop();
  await redis.stop();
  await postgres.stop();
});

const variables = () => ({
  DATABASE_URL: postgres.url,
  LIMITS_FILE: ':memory:',
  REDIS_URL: redis.url,
  UPSTASH_REDIS_REST_URL: front.url,
  UPSTASH_REDIS_REST_TOKEN: front.token,
});

/** Runs each example in a test, but all of them in one process if they pass there. */
function testTogether(title: string, together: readonly Example[], environment: () => Record<string, string>): void {
  let passed: Promise<Set<Example>> | undefined;
  test.each(together.map((example) => ({ name: nameOf(example), example })))(
    `$name ${title}`,
    async ({ example }) => {
      passed ??= runTogether(together, environment());
      if (!(await passed).has(example)) await runExample(example, environment());
    },
    timeoutOf(together.length),
  );
}

testTogether('returns the values that it states', runExamples, variables);

const onRedis = runExamples.filter(({ file, code }) => file === 'docs/redis.md' && code.includes('REDIS_URL'));
testTogether('starts while Redis is down', onRedis, () => ({ REDIS_URL: 'redis://127.0.0.1:1' }));

registerJestTests(wholeExamples);

test('the examples compile', () => typeCheck(wholeExamples.filter(({ language }) => language === 'ts')), TIMEOUT_MS);

const marked = (isMarked: (example: Example) => boolean) =>
  examples.filter(isMarked).map((example) => `${nameOf(example)} ${example.note}`);

test('every fence has a known language and mark', () => {
  expect(marked(({ note }) => !NOTES.includes(note))).toEqual([]);
});

test('another test verifies every fragment', () => {
  expect(marked(({ note, file }) => note === 'fragment' && !VERIFIED_ELSEWHERE.test(file))).toEqual([]);
});

/** The pages of the repository, which no column narrows. */
const WIDE_PAGES = /^(?:docs\/internals\/|packages\/store-conformance)/;

test('the code of a page fits its column without scrolling', () => {
  const ofPages = examples.filter(({ file }) => file.endsWith('.md') && !WIDE_PAGES.test(file));
  const wide = ofPages.flatMap((example) =>
    example.code.split('\n').filter((line) => line.length > 72 && !line.startsWith('import ')),
  );
  expect(wide).toEqual([]);
});

test('every @example is code in a fence', () => {
  const bare = SOURCES.flatMap((file) =>
    linesOf(file).flatMap((line, index, lines) =>
      line.startsWith('@example') && !/^```(ts|js)\b/.test(lines[index + 1]!) ? [`${file}:${index + 1}`] : [],
    ),
  );
  expect(bare).toEqual([]);
});

test('README.md has examples that are run', () => {
  expect(runExamples.filter(({ file }) => file === 'README.md')).not.toEqual([]);
});
