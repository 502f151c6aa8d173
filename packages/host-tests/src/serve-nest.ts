import type { Server } from 'node:http';
import { Controller, Get, Module, type Type } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { WsAdapter } from '@nestjs/platform-ws';
import { decorate } from './decorate.js';

/** Creates the server of an app over Express, whose gateways take WebSockets. */
export async function serveOnExpress(module: Type): Promise<Server> {
  const app = await NestFactory.create(module, { logger: false });
  app.useWebSocketAdapter(new WsAdapter(app));
  await app.init();
  return app.getHttpServer();
}

/** Creates the server of an app over Fastify. */
export async function serveOnFastify(module: Type, adapter = new FastifyAdapter()): Promise<Server> {
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, { logger: false });
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  return app.getHttpServer();
}

/** Creates the server of an app with one route behind this guard. */
export function serveNest(module: object, guard: Type): Promise<Server> {
  class HelloController {
    hello(): string {
      return 'hello';
    }
  }
  decorate(HelloController, 'hello', [Get('/')]);
  Controller()(HelloController);
  class AppModule {}
  Module({
    imports: [module as Type],
    controllers: [HelloController],
    providers: [{ provide: APP_GUARD, useClass: guard }],
  })(AppModule);
  return serveOnExpress(AppModule);
}
