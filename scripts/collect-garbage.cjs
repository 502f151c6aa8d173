const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

const LIMIT_BYTES = 80e6;

/**
 * Frees the memory of the test files that the same process has run before. V8 would let it grow to several hundred
 * megabytes first, because it knows nothing of the other processes.
 */
if (process.memoryUsage().heapUsed > LIMIT_BYTES) {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
