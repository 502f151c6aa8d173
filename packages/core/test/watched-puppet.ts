import { rollingWindow } from '@rollgate/core';
import { OutageLog } from './outage-log.js';
import { PuppetStore } from './puppet-store.js';

export const TIMEOUT_MS = 25;
export const REFUSED = { rejection: new Error('no room') };

export const limits = rollingWindow({ limit: 2, window: '1m' });

/** A fresh one for each test of the file that imports it, and what is told of it. */
export let store: PuppetStore;
export let log: OutageLog;

beforeEach(() => {
  store = new PuppetStore();
  log = new OutageLog(store);
});
afterEach(() => {
  log.stop();
  jest.restoreAllMocks();
});
