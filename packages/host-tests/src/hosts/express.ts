import { createServer, type Server } from 'node:http';
import { rateLimit, settle } from '@rollgate/express';
import express5, { type Request } from 'express';
import express4 from 'express4';
import { respond, startResponse } from '../node-handler.js';
import { control, createScenarios, type Limiters, toBehavior, toSettled } from '../scenarios.js';

function createExpress(express: typeof express5): Server {
  const app = express();
  app.set('env', 'test'); // Express then logs no errors.
  const limiters: Limiters = {};
  for (const [name, options] of Object.entries(createScenarios<Request>((request, header) => request.get(header)))) {
    const limit = rateLimit(options as never);
    limiters[name] = limit.limiter;
    if (name === 'started')
      app.use('/started', (request, response, next) => {
        startResponse(request, response);
        next();
      });
    app.use(`/${name}`, limit, async (request, _response, next) => {
      const settled = toSettled(toBehavior(request.get('x-behavior')));
      if (settled === undefined) next();
      else await settle(request, settled).then(() => next(), next);
    });
    app.use(`/${name}`, (request, response) => respond(toBehavior(request.get('x-behavior')), response));
  }
  app.use('/control', (request, response, next) => {
    control(request.originalUrl, limiters).then((state) => response.json(state), next);
  });
  return createServer(app);
}

export const createExpress5 = () => createExpress(express5);
export const createExpress4 = () => createExpress(express4 as unknown as typeof express5);
