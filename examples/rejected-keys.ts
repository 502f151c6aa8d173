// Who is rejected, and by which limit: an admin route, as a page and as JSON.   npm run example rejected-keys.ts
import type { AddressInfo } from 'node:net';
import { rejectedKeys } from '@rollgate/core/observe';
import { rateLimit } from '@rollgate/express';
import express, { type RequestHandler } from 'express';

const { PORT = '3000', ADMIN_TOKEN = 'secret' } = process.env;
const rejected = rejectedKeys();

/** Stands for the authentication of your app. */
const requireAdmin: RequestHandler = (request, response, next) => {
  if (request.get('Authorization') === `Bearer ${ADMIN_TOKEN}`) next();
  else response.sendStatus(401);
};
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const app = express();
app.get('/admin/rejected', requireAdmin, (request, response) => {
  const top = rejected.top(20);
  if (request.accepts(['html', 'json']) === 'json') return void response.json(top);
  const rows = top.map(({ key, limiter, violated, count }) =>
    [JSON.stringify(key), limiter, violated.join(', '), count]
      .map((cell) => `<td>${escapeHtml(String(cell))}`)
      .join(''),
  );
  const head = '<tr><th>Key<th>Limiter<th>Limits<th>Rejections';
  response.type('html').send(`<!doctype html><table>${[head, ...rows].join('\n<tr>')}</table>`);
});
app.use(rateLimit({ name: 'api', limit: 10, window: '1m' }));
app.get('/', (_request, response) => {
  response.send('hello');
});

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(`
Rollgate behind Express, on ${url}: 10 requests per minute.

  for i in $(seq 15); do curl -s -o /dev/null ${url}; done
  curl -H 'Authorization: Bearer ${ADMIN_TOKEN}' ${url}/admin/rejected    a table of who was rejected

Ctrl-C stops the server.`);
});
