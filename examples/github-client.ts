// Reads many repositories of GitHub, as fast as its limits allow: npm run example github-client.ts
// With several processes, pass a RedisStore as `store`. This example calls a local server.
import { MemoryStore } from '@rollgate/core';
import { createFetch, github } from '@rollgate/fetch';
import { startFakeGithub } from './fake-github.js';

const { url, stop } = await startFakeGithub(); // In your app: const url = 'https://api.github.com'.

let waits = 0;
const api = createFetch({
  store: new MemoryStore(),
  bucket: () => 'my-app', // The user or the installation to which the token belongs, not the token itself.
  dialects: [github()],
  maxWait: '1h', // The quota of GitHub returns within an hour.
  onWait: () => {
    waits++;
  },
});

interface Repository {
  name: string;
  stars: number;
}

async function read(name: string): Promise<Repository> {
  const headers = { Authorization: `Bearer ${process.env.GITHUB_TOKEN ?? 'none'}` };
  const response = await api(`${url}/repos/${name}`, { headers });
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return (await response.json()) as Repository;
}

const names = Array.from({ length: 80 }, (_, index) => `rollgate-js/repository-${index + 1}`);
const repositories = await Promise.all(names.map(read));
await api.close();

console.log(`${repositories.length} repositories read, ${waits} calls waited, ${stop()} rejected`);
