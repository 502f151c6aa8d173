import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const MAIN = join(__dirname, '../explore.mjs');

test.each([
  ['--depth', 'x', "Expected `--depth` to be a positive integer, got 'x'"],
  ['--states', '1e3', "Expected `--states` to be a positive integer, got '1e3'"],
  ['--scenario', 'tpyo', "Expected `--scenario` to be part of a scenario's name, got 'tpyo'"],
])('the explorer fails instead of exploring nothing: %s %s', (option, value, message) => {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, option, value], { encoding: 'utf8' });
  expect(stderr).toContain(message);
  expect(status).toBe(1);
});
