import 'reflect-metadata';
import type { Server } from 'node:http';
import {
  Controller,
  type ExceptionFilter,
  Get,
  Inject,
  Module,
  Param,
  type Type,
  UseFilters,
  UseInterceptors,
} from '@nestjs/common';
import { APP_GUARD, ExternalContextCreator } from '@nestjs/core';
import {
  MemoryStore,
  RateLimit,
  type RateLimitException,
  RateLimiter,
  RateLimitGuard,
  RateLimitModule,
  rollingWindow,
  SkipRateLimit,
} from '@rollgate/nestjs';
import { decorate } from '../decorate.js';
import { serveOnExpress } from '../serve-nest.js';
import { AccountController, startWith } from './nest-account.js';
import { statusesWithoutIp, type TrustSetting, warningsWith } from './nest-proxies.js';
import { SETTLING } from './nest-settling.js';

const store = new MemoryStore();
const limits = rollingWindow({ limit: 9, window: '1h' });

/** Replaces the method by a function without a name, as decorators for logs and transactions do. */
const Logged: MethodDecorator = (target, name, descriptor) => {
  const original = descriptor.value as (...args: unknown[]) => unknown;
  descriptor.value = function (this: unknown, ...args: unknown[]) {
    return original.apply(this, args);
  } as never;
  Object.defineProperty(target, name, descriptor);
};

class WrappedController {
  a(): string {
    return 'a';
  }
  b(): string {
    return 'b';
  }
}
for (const name of ['a', 'b']) decorate(WrappedController, name, [Logged, Get(name), RateLimit({})]);
Controller('wrapped')(WrappedController);

/** Creates controllers of the same name, as an app with several versions has. */
function createUsersController(path: string): Type {
  class UsersController {
    list(): string {
      return path;
    }
    unique(): string {
      return path;
    }
  }
  decorate(UsersController, 'list', [Get(), RateLimit({})]);
  // Only one of the controllers has this count, so its name needs no path.
  if (path === 'v1/users') decorate(UsersController, 'unique', [Get('unique'), RateLimit({})]);
  Controller(path)(UsersController);
  return UsersController;
}

class SettledController {
  settled(): string {
    return 'allowed';
  }
}
decorate(SettledController, 'settled', [Get('settled'), RateLimit({}), UseInterceptors(SETTLING)]);
Controller()(SettledController);

/** A filter as an app may have it, which sends the exception's response as JSON. */
const JSON_FILTER: ExceptionFilter<RateLimitException> = {
  catch(exception, host) {
    const { message, decision } = exception;
    const body = { response: exception.getResponse(), message, violated: decision.violated };
    host.switchToHttp().getResponse().status(exception.getStatus()).json(body);
  },
};
class FilteredController {
  filtered(): string {
    return 'allowed';
  }
}
decorate(FilteredController, 'filtered', [
  Get('filtered'),
  RateLimit({ message: 'Slow down', statusCode: () => 503 }),
  UseFilters(JSON_FILTER),
]);
Controller()(FilteredController);

class ControlController {
  readonly #contexts: ExternalContextCreator;
  constructor(contexts: ExternalContextCreator) {
    this.#contexts = contexts;
  }
  /** Returns what the count with this prefix contains. */
  async used(prefix: string): Promise<number> {
    const { remaining } = await new RateLimiter({ limits, store, prefix }).peek('all');
    return limits.limit - remaining;
  }
  /** Starts apps with these options, and returns why they fail. */
  starts(): Promise<string[]> {
    const right = { limit: 1, window: '1h' };
    return Promise.all([
      startWith(undefined, { limit: -1, window: '1h' }),
      startWith(undefined, { ...right, key: 'ip' }, true),
      startWith({ limit: 1, window: '1x' }, right),
      startWith(undefined, { statusCode: 429 }),
      startWith({ statusCode: 503 }, undefined),
      startWith({ statusCode: 503 }, right),
      // As from a factory that forgets its `return`.
      new Promise<string>(() => new RateLimitModule(undefined as never, undefined as never, undefined as never)).catch(
        String,
      ),
    ]);
  }
  /** Returns the warnings of apps with these settings, one after the other. */
  async proxies(platform: 'Express' | 'Fastify', settings: string): Promise<object[]> {
    const warnings: object[] = [];
    for (const trusted of JSON.parse(settings) as TrustSetting[]) warnings.push(await warningsWith(platform, trusted));
    return warnings;
  }
  async withoutIp(): Promise<number[]> {
    return statusesWithoutIp();
  }
  /** Calls a handler as a microservice does, with a text and an object. */
  async message(): Promise<object> {
    const call = this.#contexts.create<never, 'rpc'>(
      this as never,
      this.handle,
      'handle',
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      'rpc',
    );
    const payload = { id: 7 };
    const errors = await Promise.all(['text', payload].map((data) => call(data).catch(String)));
    return { payload, errors };
  }
  handle(): string {
    return 'handled';
  }
}
Inject(ExternalContextCreator)(ControlController, undefined, 0);
decorate(ControlController, 'used', [Get('used/:prefix'), SkipRateLimit()]);
Param('prefix')(ControlController.prototype, 'used', 0);
decorate(ControlController, 'starts', [Get('starts'), SkipRateLimit()]);
decorate(ControlController, 'proxies', [Get('proxies/:platform/:settings'), SkipRateLimit()]);
Param('platform')(ControlController.prototype, 'proxies', 0);
Param('settings')(ControlController.prototype, 'proxies', 1);
decorate(ControlController, 'withoutIp', [Get('without-ip'), SkipRateLimit()]);
decorate(ControlController, 'message', [Get('message'), SkipRateLimit()]);
Controller()(ControlController);

class RoutesModule {}
Module({
  imports: [RateLimitModule.forRoot({ limit: 1, window: '1h', key: () => 'all', store })],
  controllers: [
    WrappedController,
    SettledController,
    FilteredController,
    AccountController,
    createUsersController('v1/users'),
    createUsersController('v2/users'),
    ControlController,
  ],
  providers: [{ provide: APP_GUARD, useClass: RateLimitGuard }],
})(RoutesModule);

export const createNestRoutes = (): Promise<Server> => serveOnExpress(RoutesModule);
