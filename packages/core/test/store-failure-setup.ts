import { rollingWindow } from '@rollgate/core';
import { OutageLog } from '@rollgate/test-support/outage-log';
import { PuppetStore } from './puppet-store.js';

export const TIMEOUT_MS = 25;
export const FAILURE = { rejection: new Error('no room') };

export const limits = rollingWindow({ limit: 2, window: '1m' });

/** A new store for each test of the file that imports it, and the events about it. */
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
