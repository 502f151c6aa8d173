import 'reflect-metadata';
import type { Server } from 'node:http';
import { Controller, Get, Module, Req } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { rateLimit } from '@rollgate/fastify';
import { type Decision, RateLimitDecision, RateLimitGuard, RateLimitModule, SkipRateLimit } from '@rollgate/nestjs';
import { decorate } from '../decorate.js';
import { serveOnFastify } from '../serve-nest.js';

interface FastifyRequest {
  readonly rateLimit: Decision | null;
}

/** Returns what a handler sees. JSON has no `undefined`. */
class DecisionController {
  limited({ rateLimit }: FastifyRequest, decision: Decision | undefined): object {
    return { rateLimit: rateLimit?.remaining, decision: decision?.remaining };
  }
  skipped({ rateLimit }: FastifyRequest, decision: Decision | undefined): object {
    return { rateLimit, isUndefined: decision === undefined };
  }
}
for (const name of ['limited', 'skipped']) {
  decorate(DecisionController, name, [Get(name), ...(name === 'skipped' ? [SkipRateLimit()] : [])]);
  Req()(DecisionController.prototype, name, 0);
  RateLimitDecision()(DecisionController.prototype, name, 1);
}
Controller()(DecisionController);

class AppModule {}
Module({
  imports: [RateLimitModule.forRoot({ limit: 9, window: '1h' })],
  controllers: [DecisionController],
  providers: [{ provide: APP_GUARD, useExisting: RateLimitGuard }],
})(AppModule);

/** An app over Fastify that also has the plugin for Fastify. */
export async function createNestFastifyRequests(): Promise<Server> {
  const adapter = new FastifyAdapter();
  await adapter.register(rateLimit as never, { limit: 9, window: '1h', global: false } as never);
  return serveOnFastify(AppModule, adapter);
}
