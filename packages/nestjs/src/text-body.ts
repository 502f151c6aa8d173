import { StreamableFile } from '@nestjs/common';

/**
 * A body that is not JSON. Nest's own exception filter sends a string inside a JSON object, but a file as it is. Filters that
 * send the exception's response as JSON send the text.
 */
export class TextBody extends StreamableFile {
  /** @param message The whole body, which `HttpException` also takes as its message. */
  constructor(
    readonly message: string,
    type: string,
  ) {
    super(Buffer.from(message), { type });
  }

  toJSON(): string {
    return this.message;
  }
}
