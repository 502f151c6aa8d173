import { subscribe, unsubscribe } from 'node:diagnostics_channel';

const CHANNELS = ['rollgate:store:failure', 'rollgate:store:recovery'];

/** Subscribes to outages while the tests of a file run. Otherwise each would be a process warning. */
export function silenceOutages(): void {
  const listen = () => {};
  beforeAll(() => {
    for (const channel of CHANNELS) subscribe(channel, listen);
  });
  afterAll(() => {
    for (const channel of CHANNELS) unsubscribe(channel, listen);
  });
}
