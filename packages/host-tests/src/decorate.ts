import type { Type } from '@nestjs/common';

/** Applies decorators of a method as TypeScript would. */
export function decorate(target: Type, method: string, decorators: MethodDecorator[]): void {
  const descriptor = Object.getOwnPropertyDescriptor(target.prototype, method)!;
  for (const decorator of decorators) decorator(target.prototype, method, descriptor);
}
