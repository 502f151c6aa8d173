/** Redis did not confirm a reset. The memory of this server was reset. */
export class ResetError extends Error {
  override readonly name = 'ResetError';
  /** The status of the HTTP response. */
  readonly status = 503;

  constructor(cause: Error) {
    super(
      'Redis did not confirm the reset. The memory of this server, which decides during an outage of Redis, is empty now.',
      { cause },
    );
  }
}
