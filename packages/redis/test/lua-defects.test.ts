import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

test('each defect of lua-defects.mjs applies to the Lua of today', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(__dirname, '../lua-defects.mjs'), '--check'], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
