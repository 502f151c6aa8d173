import 'reflect-metadata';
import { createRequire } from 'node:module';
import type { ExecutionContext, Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ThrottlerException, ThrottlerGuard, ThrottlerModule, ThrottlerStorageService } from '@nestjs/throttler';
import type { Library, Limiter, Rule } from '../library.js';
import { toOutcome } from '../responses.js';
import { listen } from '../servers.js';

// The throttler is a CommonJS module. tsx gives such modules other instances of Nest's modules than `import` gives.
const require = createRequire(import.meta.url);
const { Controller, Get, Module } = require('@nestjs/common') as typeof import('@nestjs/common');
const { APP_GUARD, NestFactory, Reflector } = require('@nestjs/core') as typeof import('@nestjs/core');

export const nestjsThrottler: Library = {
  inMemory: (rule) => createLimiter([rule]),

  combined: (first, second) => createLimiter([first, second]),

  async serve(rule) {
    class AppModule {}
    Module({
      controllers: [createController()],
      imports: [ThrottlerModule.forRoot(toOptions([rule]))],
      providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
    })(AppModule);
    const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: false });
    app.set('trust proxy', 'loopback');
    await app.init();
    return listen(app.getHttpServer());
  },
};

function toOptions(rules: readonly Rule[]) {
  return rules.map(({ limit, windowMs }, index) => ({
    name: index === 0 ? 'default' : 'second',
    limit,
    ttl: windowMs,
  }));
}

/** Calls the decorators, because tsx does not compile them as Nest requires. */
function createController(): Type {
  class HelloController {
    hello(): string {
      return 'hello';
    }
  }
  const { prototype } = HelloController;
  Get('/')(prototype, 'hello', Object.getOwnPropertyDescriptor(prototype, 'hello')!);
  Controller()(HelloController);
  return HelloController;
}

/** Calls the guard as Nest does, with a request from the address `key`. */
async function createLimiter(rules: readonly Rule[]): Promise<Limiter> {
  const guard = new ThrottlerGuard(toOptions(rules), new ThrottlerStorageService(), new Reflector());
  await guard.onModuleInit();
  return {
    async check(key) {
      const headers = new Map<string, string>();
      try {
        await guard.canActivate(createContext(key, headers));
        return { allowed: true };
      } catch (error) {
        if (!(error instanceof ThrottlerException)) throw error;
        return toOutcome(error.getStatus(), headers.get('Retry-After') ?? headers.get('Retry-After-second'));
      }
    },
  };
}

function createContext(ip: string, headers: Map<string, string>): ExecutionContext {
  const request = { ip, headers: {} };
  const response = { header: (name: string, value: unknown) => headers.set(name, String(value)) };
  return {
    getHandler: () => createContext,
    getClass: () => ThrottlerGuard,
    switchToHttp: () => ({ getRequest: () => request, getResponse: () => response }),
  } as unknown as ExecutionContext;
}
