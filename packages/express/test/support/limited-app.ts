import { type RateLimitOptions, rateLimit } from '@rollgate/express';
import { type ExpressVersion, memory } from '@rollgate/host-tests/express-servers';
import { WARNING_CODES } from '@rollgate/http';
import type { ErrorRequestHandler } from 'express';

export { clock, EXPRESSES, listen } from '@rollgate/host-tests/express-servers';

/** Creates an app with one route behind the limit, which sends its errors as JSON. */
export function createApp(express: ExpressVersion, options: Partial<RateLimitOptions>) {
  const errors: unknown[] = [];
  const app = express();
  const store = options.store ?? memory();
  const middleware = rateLimit({ silence: WARNING_CODES, ...options, store } as RateLimitOptions);
  app.use(middleware);
  app.get('/', (request, response) => {
    response.json({ allowed: request.rateLimit?.allowed, remaining: request.rateLimit?.remaining });
  });
  const onError: ErrorRequestHandler = (error, _request, response, next) => {
    errors.push(error);
    if (response.headersSent) next(error);
    else response.status(500).json({ error: String(error) });
  };
  app.use(onError);
  return { app, errors, middleware };
}
