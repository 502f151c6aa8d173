const { AsyncLocalStorage } = require('node:async_hooks');
const { ChildProcess } = require('node:child_process');
const diagnostics = require('node:diagnostics_channel');
const { getHeapStatistics, setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');
const { takeTurn } = require('./heavy-files.cjs');
require('./compile-once.cjs');

/** V8 would use several hundred megabytes before it collects garbage, because it knows nothing of the other processes. */
const MAX_HEAP_BYTES = 70e6;
/** From this number of timers on, the environment forgets those that have ended. */
const MANY_TIMERS = 1000;
/** The property in which Node keeps the connections of `fetch`. */
const FETCH_CONNECTIONS = Symbol.for('undici.globalDispatcher.1');

/** Calls `before` with the object and the arguments of each call of a method. Returns a function that ends this. */
function interceptCalls(prototype, method, before) {
  const original = prototype[method];
  prototype[method] = function (...args) {
    before(this, args);
    // `before` may have replaced the method of this object.
    return (Object.hasOwn(this, method) ? this[method] : original).apply(this, args);
  };
  return () => {
    prototype[method] = original;
  };
}

/**
 * All channels that tests of this process have used. Node looks up a channel by its name. When it collects one, it would
 * also remove the channel of the same name that a later file has created since.
 */
const usedChannels = new Set();
const { channel } = diagnostics;
diagnostics.channel = (name) => {
  const used = channel(name);
  usedChannels.add(used);
  return used;
};

let gc;
let leftBytes = 0;

/** Returns memory to the system, if the heap is large and has grown by a fifth since the last time. */
function shrinkHeap() {
  if (getHeapStatistics().total_heap_size < Math.max(MAX_HEAP_BYTES, 1.2 * leftBytes)) return;
  setFlagsFromString('--expose-gc');
  gc ??= runInNewContext('gc');
  gc();
  leftBytes = getHeapStatistics().total_heap_size;
}

/** Whether a storage is the one in which Jest keeps the current test. */
const isOfJest = (store) => typeof store === 'object' && store !== null && ('test' in store || 'hook' in store);

/**
 * Keeps the current test in a variable instead. An AsyncLocalStorage makes every promise slower, and the tests of a file
 * run one after another.
 */
function storeInVariable(storage) {
  let current;
  storage.getStore = () => current;
  storage.run = async (store, callback) => {
    const outer = current;
    current = store;
    try {
      return await callback();
    } finally {
      current = outer;
    }
  };
}

/** Whether a process is the one that esbuild keeps for further builds. */
const isOfEsbuild = ({ spawnargs }) => spawnargs.some((argument) => argument.startsWith('--service='));

/**
 * Ends what a test file leaves behind in its process: timers, such as that of a call whose store never responds,
 * connections of `fetch`, and the process of esbuild. They would keep all modules of the file in memory, and their events
 * and warnings would reach the next file.
 */
module.exports = class extends TestEnvironment {
  #timers = new Set();
  #services = new Set();
  #ends = [];
  #path;
  #endTurn = () => {};

  constructor(config, context) {
    leftBytes = 0;
    shrinkHeap(); // Only now is nothing of the last file reachable.
    super(config, context);
    this.#path = context.testPath;
  }

  async setup() {
    this.#endTurn = await takeTurn(this.#path);
    await super.setup();
    this.global.setTimeout = this.#recordTimers(setTimeout);
    this.global.setInterval = this.#recordTimers(setInterval);
    this.#ends = [
      interceptCalls(AsyncLocalStorage.prototype, 'run', (storage, [store]) => {
        if (isOfJest(store)) storeInVariable(storage);
      }),
      interceptCalls(ChildProcess.prototype, 'unref', (child) => {
        if (isOfEsbuild(child)) this.#services.add(child);
      }),
    ];
  }

  handleTestEvent({ name }) {
    if (name === 'test_done') shrinkHeap();
  }

  /** `setTimeout` or `setInterval`, which remembers its timers. */
  #recordTimers(start) {
    const startRecorded = (...args) => {
      const timer = start(...args);
      this.#timers.add(timer);
      if (this.#timers.size % MANY_TIMERS === 0) this.#forgetEnded();
      return timer;
    };
    // It keeps the form that returns a promise, for `promisify`.
    return Object.defineProperties(startRecorded, Object.getOwnPropertyDescriptors(start));
  }

  #forgetEnded() {
    for (const timer of this.#timers) if (timer._destroyed) this.#timers.delete(timer);
  }

  async teardown() {
    for (const end of this.#ends) end();
    for (const timer of this.#timers) clearTimeout(timer);
    for (const service of this.#services) service.kill();
    const connections = globalThis[FETCH_CONNECTIONS];
    if (connections !== undefined) {
      globalThis[FETCH_CONNECTIONS] = new connections.constructor();
      await connections.destroy();
    }
    await super.teardown();
    this.#endTurn();
  }
};
