import { subscribe, unsubscribe } from 'node:diagnostics_channel';

const CHANNELS = ['rollgate:store:failure', 'rollgate:store:recovery'];
const ignore = () => {};

/** Subscribes to outages while the tests of a file run. Without a subscriber, each outage is a process warning. */
export function silenceOutages(): void {
  beforeAll(subscribeToOutages);
  afterAll(unsubscribeFromOutages);
}

/** Runs code that makes a store fail, without the process warnings about outages. */
export async function withoutOutageWarnings<Result>(work: () => Promise<Result>): Promise<Result> {
  subscribeToOutages();
  try {
    return await work();
  } finally {
    unsubscribeFromOutages();
  }
}

function subscribeToOutages(): void {
  for (const channel of CHANNELS) subscribe(channel, ignore);
}

function unsubscribeFromOutages(): void {
  for (const channel of CHANNELS) unsubscribe(channel, ignore);
}
