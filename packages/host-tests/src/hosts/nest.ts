import 'reflect-metadata';
import type { Server } from 'node:http';
import { All, Controller, type ExecutionContext, Get, Module, Req, Res, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { RateLimit, RateLimitGuard, RateLimitModule, settle } from '@rollgate/nestjs';
import { decorate } from '../decorate.js';
import { respond } from '../node-handler.js';
import { control, createScenarios, type Limiters, toBehavior, toSettled } from '../scenarios.js';
import { serveOnExpress, serveOnFastify } from '../serve-nest.js';

interface NestRequest {
  readonly url: string;
  readonly headers: Record<string, string | undefined>;
}
interface NestReply {
  readonly raw?: import('node:http').ServerResponse;
  hijack?(): void;
  getHeaders(): Record<string, string>;
}

const scenarios = createScenarios<ExecutionContext>(
  (context, name) => context.getArgByIndex<NestRequest>(0).headers[name],
);

/** Creates a controller with one route for each scenario. */
function createController(limiters: Limiters): Type {
  class ScenarioController {
    control(request: NestRequest): Promise<object> {
      return control(request.url, limiters);
    }
  }
  for (const [name, options] of Object.entries(scenarios)) {
    const method = { [name]: (request: NestRequest, response: NestReply) => handle(request, response) }[name];
    Object.defineProperty(ScenarioController.prototype, name, { value: method, configurable: true, writable: true });
    decorate(ScenarioController, name, [All(name), RateLimit(options as never)]);
    Req()(ScenarioController.prototype, name, 0);
    Res()(ScenarioController.prototype, name, 1);
  }
  decorate(ScenarioController, 'control', [Get(['control/:command/:scenario', 'control/:command/:scenario/:key'])]);
  Req()(ScenarioController.prototype, 'control', 0);
  Controller()(ScenarioController);
  return ScenarioController;
}

async function handle(request: NestRequest, response: NestReply): Promise<void> {
  const behavior = toBehavior(request.headers['x-behavior']);
  const settled = toSettled(behavior);
  if (settled !== undefined) await settle(request, settled);
  if (behavior === 'throw') throw new Error('The handler failed');
  if (response.raw !== undefined) {
    response.hijack!();
    for (const [name, value] of Object.entries(response.getHeaders())) response.raw.setHeader(name, value);
  }
  respond(behavior, response.raw ?? (response as never));
}

/** A guard that also collects the limiters, for the control routes. */
function createModule(limiters: Limiters): Type {
  class CollectingGuard extends RateLimitGuard {
    override canActivate(context: ExecutionContext): boolean | Promise<boolean> {
      const limiter = this.limiterOf(context);
      if (limiter !== undefined) limiters[context.getHandler().name] ??= limiter;
      return super.canActivate(context);
    }
  }
  class AppModule {}
  Module({
    imports: [RateLimitModule.forRootAsync({ useFactory: async () => ({}) })],
    controllers: [createController(limiters)],
    providers: [{ provide: APP_GUARD, useClass: CollectingGuard }],
  })(AppModule);
  return AppModule;
}

export const createNestExpress = (): Promise<Server> => serveOnExpress(createModule({}));
export const createNestFastify = (): Promise<Server> => serveOnFastify(createModule({}));
