// The entry point `@rollgate/redis/waiting`: the queues that all processes share. A program that does not import it has none of them.
export { type FairWaiting, type FairWaitingOptions, fairWaiting } from './waiting/fair-waiting.js';
export type { SubscriberClient } from './waiting/subscriber.js';
