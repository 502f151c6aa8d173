import diagnostics from 'node:diagnostics_channel';

/** All channels of the packages. */
export const CHANNELS = [
  'rollgate:decision',
  'rollgate:fetch:response',
  'rollgate:fetch:wait',
  'rollgate:lease:lost',
  'rollgate:limits:failure',
  'rollgate:refund:failure',
  'rollgate:rejection',
  'rollgate:request',
  'rollgate:store:failure',
  'rollgate:store:recovery',
  'rollgate:threshold',
];

// Node holds channels weakly. If it collects one after another module has created a channel of the same name, it forgets that one,
// too (seen in Node 20.20), and later subscribers hear nothing of it. Each test file loads the packages anew, so the channels of all
// names stay in the module of Node, which all files of a worker share.
const HELD = Symbol.for('@rollgate/test-support channels');
Object.assign(diagnostics, { [HELD]: CHANNELS.map((name) => diagnostics.channel(name)) });
