const { closeSync, openSync, readFileSync, rmSync, writeSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { setTimeout: delay } = require('node:timers/promises');

/**
 * Files whose browsers, compilers and PGlite take hundreds of megabytes besides their worker. `page.test.ts` is not one of
 * them. It runs for half of the time, so the others would start too late.
 */
const HEAVY = [/\btest.(packages|docs)\.test/, /cli.test.html/, /postgres.test.conformance/];
const POLL_MS = 100;

const isHeavy = (path) => HEAVY.some((part) => part.test(path));

const isRunning = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Creates the file with the id of this process. Removes it first if the process that created it has ended. */
function tryLock(file) {
  try {
    const opened = openSync(file, 'wx');
    writeSync(opened, String(process.pid));
    closeSync(opened);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  let pid = '';
  try {
    pid = readFileSync(file, 'utf8');
  } catch {} // It was released just now.
  // This worker keeps the lock of a file whose environment could not start.
  if (pid !== '' && (Number(pid) === process.pid || !isRunning(Number(pid)))) rmSync(file, { force: true });
  return false;
}

/**
 * Waits until no other worker of this run runs a heavy file, if `path` is one. The sequencer keeps them far from each
 * other, so a worker rarely waits.
 *
 * @returns A function that lets the next one run.
 */
async function takeTurn(path) {
  if (!isHeavy(path)) return () => {};
  const file = join(tmpdir(), `rollgate-heavy-${process.ppid}.lock`);
  while (!tryLock(file)) await delay(POLL_MS);
  return () => rmSync(file, { force: true });
}

module.exports = { takeTurn };
