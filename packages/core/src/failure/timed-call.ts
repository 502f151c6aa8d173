/** A call that settles by its result or by its deadline, whichever comes first. */
export interface TimedCall {
  dueMs: number;
  isSettled: boolean;
  /** The pending calls that were started before and after this one. */
  previous: TimedCall | undefined;
  next: TimedCall | undefined;
  /** Called once, if the call has not settled by its deadline. */
  onTimeout(): void;
}
