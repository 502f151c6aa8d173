import 'reflect-metadata';
import { Controller, Get, Module, type Type } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { RateLimitGuard, RateLimitModule } from '@rollgate/nestjs';
import { decorate } from '../decorate.js';

class PingController {
  ping(): string {
    return 'pong';
  }
}
decorate(PingController, 'ping', [Get()]);
Controller()(PingController);

/** Returns the codes of the warnings about the proxies of an app over Fastify with this setting. */
export async function warningsWith(trustProxy: boolean | string): Promise<unknown[]> {
  class AppModule {}
  Module({
    imports: [RateLimitModule.forRoot({ limit: 9, window: '1h' })],
    controllers: [PingController],
    providers: [{ provide: APP_GUARD, useExisting: RateLimitGuard }],
  })(AppModule);
  const adapter = new FastifyAdapter({ trustProxy });
  const app = await NestFactory.create<NestFastifyApplication>(AppModule as Type, adapter, { logger: false });
  await app.init();
  const codes: unknown[] = [];
  const { emitWarning } = process;
  process.emitWarning = (_message: unknown, options: unknown) => codes.push((options as { code?: string }).code);
  await app.inject({ url: '/', headers: { 'x-forwarded-for': '198.51.100.7' } });
  process.emitWarning = emitWarning;
  await app.close();
  return codes;
}
