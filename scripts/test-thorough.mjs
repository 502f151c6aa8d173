// The long campaigns: the same tests as `npm test`, with many more random runs and longer histories. Arguments go to Jest.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const jest = 'node_modules/jest/bin/jest.js';
const seed = process.env.ROLLGATE_SEED || String(randomInt(2 ** 31));

/** What runs, each one after the other: a name, and what Node runs with which arguments. */
const campaigns = [
  ['random histories', [jest, 'packages/store-conformance', 'packages/redis', 'packages/core']],
  ['every history', ['--no-warnings', 'packages/store-conformance/dist/explorer/main.js', '--states', '10000000']],
];

const given = process.argv.slice(2);
const chosen = given.length > 0 ? [['chosen tests', [jest, ...given]]] : campaigns;
const failed = [];
for (const [name, args] of chosen) {
  console.log(`${name}: ROLLGATE_SEED=${seed}`);
  const env = { ...process.env, ROLLGATE_THOROUGH: '1', ROLLGATE_SEED: seed };
  const { status } = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) failed.push(name);
}
if (failed.length > 0) {
  console.error(
    `Failed: ${failed.join(', ')}. To replay, set ROLLGATE_SEED=${seed} and name the test file and -t <test>.`,
  );
  process.exitCode = 1;
}
