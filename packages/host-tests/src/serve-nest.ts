import type { Server } from 'node:http';
import { Controller, Get, Module, type Type } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';

/** Creates the server of an app with one route behind this guard. */
export async function serveNest(module: object, guard: Type): Promise<Server> {
  class HelloController {
    hello(): string {
      return 'hello';
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(HelloController.prototype, 'hello')!;
  Get('/')(HelloController.prototype, 'hello', descriptor);
  Controller()(HelloController);
  class AppModule {}
  Module({
    imports: [module as Type],
    controllers: [HelloController],
    providers: [{ provide: APP_GUARD, useClass: guard }],
  })(AppModule);
  const app = await NestFactory.create(AppModule, { logger: false });
  await app.init();
  return app.getHttpServer();
}
