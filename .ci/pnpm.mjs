// Runs pnpm, the package manager of the workspace, on a machine that has only npm: node .ci/pnpm.mjs install
import { spawnSync } from 'node:child_process';

// With another folder as its prefix, npx does not search the packages of the workspace for pnpm.
const npx = ['--yes', '--prefix', import.meta.dirname ?? '.ci', 'pnpm@12', ...process.argv.slice(2)];
process.exitCode = spawnSync('npx', npx, { stdio: 'inherit', shell: process.platform === 'win32' }).status ?? 1;
