import { channel } from 'node:diagnostics_channel';

const CHANNELS = ['rollgate:store:failure', 'rollgate:store:recovery'];

/** Runs code that makes a store fail, without the warnings about failures that have no subscriber. */
export async function quietly<Result>(work: () => Promise<Result>): Promise<Result> {
  const listen = () => {};
  for (const name of CHANNELS) channel(name).subscribe(listen);
  try {
    return await work();
  } finally {
    for (const name of CHANNELS) channel(name).unsubscribe(listen);
  }
}
