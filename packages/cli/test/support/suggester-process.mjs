// Reads requests as lines of JSON and responds with the suggester's result. It runs in its own process because Jest
// cannot load ES modules.
import { createInterface } from 'node:readline';
import { Suggester } from '../../src/suggester.ts';

for await (const line of createInterface({ input: process.stdin })) {
  const { windowMs, share, hits } = JSON.parse(line);
  const suggester = new Suggester({ windowMs });
  for (const [micros, index] of hits)
    suggester.add({ micros, caller: { key: String(index), index }, cost: 1, line: 1 });
  const requestsOf = ({ index }) => hits.filter(([, caller]) => caller === index).length;
  console.log(JSON.stringify(suggester.result(share, requestsOf)));
}
