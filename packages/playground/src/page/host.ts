import type { Update } from '../shared/protocol.js';
import type { Scenario, Settings } from '../shared/settings.js';

/** A command's problem as text, or `undefined`. */
export type Problem = string | undefined;

/** Where requests are decided: a server, or this page itself. */
export interface Host {
  /** Passes all updates to `onUpdate`. */
  follow(onUpdate: (update: Update) => void, onConnection: (isConnected: boolean) => void): void;
  /** Sends one request. */
  send(): Promise<Problem>;
  /** Starts a scenario. With `isAuto`, only if no user has done anything. */
  run(scenario: Scenario, isAuto: boolean): Promise<Problem>;
  /** Stops the scenario and cancels the requests in flight. */
  stop(): Promise<Problem>;
  /** Changes the settings. With `isAuto`, a link to the page does that, not a user. */
  change(settings: Settings, isAuto: boolean): Promise<Problem>;
  /** Deletes all requests. */
  reset(): Promise<Problem>;
}
