// Answers questions, a line of JSON each, with what the built suggester makes of entries. In a process of its own, for it
// is an ES module, which Jest cannot load.
import { createInterface } from 'node:readline';
import { Suggester } from '../../dist/esm/suggest.js';

for await (const line of createInterface({ input: process.stdin })) {
  const { windowMs, share, hits } = JSON.parse(line);
  const suggester = new Suggester(windowMs);
  for (const [micros, index] of hits)
    suggester.add({ micros, caller: { key: String(index), index }, cost: 1, line: 1 });
  console.log(JSON.stringify(suggester.result(share)));
}
