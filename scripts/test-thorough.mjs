// Runs the same tests as `npm test` with many more random runs and longer histories. Arguments go to Jest.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const jest = 'node_modules/jest/bin/jest.js';
const seed = process.env.ROLLGATE_SEED || String(randomInt(2 ** 31));

const EVERY_HISTORY = 'every history';
const FRAMEWORKS = 'apps of large frameworks';
const CALLERS = 'clients that call an API';

/** The campaigns in order: a name, and the arguments of Node. */
const campaigns = [
  [
    'random histories',
    [jest, 'packages/store-conformance', 'packages/explorer', 'packages/redis', 'packages/core', 'wire.test'],
  ],
  [EVERY_HISTORY, ['packages/explorer/explore.mjs', '--states', '10000000']],
  [FRAMEWORKS, [jest, 'examples/test/frameworks.test.ts']],
  [CALLERS, [jest, 'packages/fetch/test/simulation.test.ts']],
];

/** The explorer visits every history, the apps get the same requests each time, and clients depend on time or on seeds of their own. So these have no seed. */
const isRandom = (name) => ![EVERY_HISTORY, FRAMEWORKS, CALLERS].includes(name);

const given = process.argv.slice(2);
const chosen = given.length > 0 ? [['chosen tests', [jest, ...given]]] : campaigns;
const failed = [];
for (const [name, args] of chosen) {
  console.log(isRandom(name) ? `${name}: ROLLGATE_SEED=${seed}` : name);
  const env = { ...process.env, ROLLGATE_THOROUGH: '1', ROLLGATE_SEED: seed };
  const { status } = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) failed.push(name);
}
if (failed.length > 0) {
  const replay = ` To repeat a failure, set ROLLGATE_SEED=${seed} and pass the test file and -t <test>.`;
  console.error(`Failed: ${failed.join(', ')}.${failed.some(isRandom) ? replay : ''}`);
  process.exitCode = 1;
}
