import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(__dirname, '../../..');

/** Two programs of a page, by the heading above them. */
export interface Pair {
  heading: string;
  before: string;
  after: string;
}

export const readPage = (page: string) => readFileSync(join(ROOT, 'docs', page), 'utf8');

/** The pairs of a page: code in a fence below a paragraph that begins with "Before" or "After". */
export function pairsOf(page: string): Pair[] {
  return readPage(page)
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const heading = section.slice(0, section.indexOf('\n'));
      const code = (word: string) => {
        const program = new RegExp(`^${word}\\b.*(?:\\n.+)*\\n\\n\`{3}ts fragment\\n([^]*?)^\`{3}$`, 'gm');
        const found = [...section.matchAll(program)];
        if (found.length !== 1) throw new Error(`${page}: "${heading}" has ${found.length} programs for "${word}"`);
        return found[0]![1]!;
      };
      return { heading, before: code('Before'), after: code('After') };
    });
}

/** What the reader's program has above and below the code of the page. */
export const APPS = {
  express: {
    head: `import express from 'express';\nconst app = express();\napp.set('trust proxy', 'loopback');\n`,
    tail: `
app.use((request, response) => response.status(Number(request.query.status ?? 200)).end('allowed'));
export const __listen = () => new Promise((resolve) => {
  const server = app.listen(0, '127.0.0.1', () => resolve(server.address().port));
});`,
  },
  fastify: {
    head: `import Fastify from 'fastify';\nconst app = Fastify({ trustProxy: 'loopback' });\n`,
    tail: `
if (!app.hasRoute({ method: 'GET', url: '/' })) {
  app.get('/', async (request, reply) => reply.code(Number(request.query.status ?? 200)).send('allowed'));
}
export const __listen = async () => {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server.address().port;
};`,
  },
};

/** Runs all given programs, and reports their ports. */
export const HOST = `
const ports = [];
for (const program of process.argv.slice(2)) ports.push(await (await import(program)).__listen());
console.log(JSON.stringify(ports));
`;
