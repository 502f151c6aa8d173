import 'reflect-metadata';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { Type } from '@nestjs/common';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { RateLimitGuard, RateLimitModule } from '@rollgate/nestjs';
import { BODY, HOUR_MS, type LimiterName } from './subjects.js';

// The throttler is a CommonJS module. tsx gives such modules other instances of Nest's modules than `import` gives.
const require = createRequire(import.meta.url);
const { Controller, Get, Module } = require('@nestjs/common') as typeof import('@nestjs/common');
const { APP_GUARD, NestFactory } = require('@nestjs/core') as typeof import('@nestjs/core');

type Feature = Parameters<typeof Module>[0];

const FEATURES: Partial<Record<LimiterName, (limit: number) => Feature>> = {
  rollgate: (limit) => ({
    imports: [RateLimitModule.forRoot({ limit, window: HOUR_MS })],
    providers: [{ provide: APP_GUARD, useClass: RateLimitGuard }],
  }),
  alternative: (limit) => ({
    imports: [ThrottlerModule.forRoot([{ ttl: HOUR_MS, limit }])],
    providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
  }),
};

/** Starts a server with one route. It calls the decorators, because tsx does not compile them as Nest requires. */
export async function startNest(limiter: LimiterName, limit: number): Promise<Server> {
  class AppModule {}
  Module({ controllers: [createController()], ...FEATURES[limiter]?.(limit) })(AppModule);
  const app = await NestFactory.create(AppModule, { logger: false });
  await app.init();
  const server: Server = app.getHttpServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

function createController(): Type {
  class HelloController {
    hello(): object {
      return BODY;
    }
  }
  const { prototype } = HelloController;
  Get('/')(prototype, 'hello', Object.getOwnPropertyDescriptor(prototype, 'hello')!);
  Controller()(HelloController);
  return HelloController;
}
