import type { Update } from '../shared/protocol.js';
import type { Scenario, Settings } from '../shared/settings.js';
import type { Host, Problem } from './host.js';
import { LiveUpdates } from './live-updates.js';
import { sendCommand } from './send-command.js';

/** A server, which shares one limit among all pages. */
export class ServerHost implements Host {
  follow(onUpdate: (update: Update) => void, onConnection: (isConnected: boolean) => void): void {
    new LiveUpdates(onUpdate, onConnection);
  }

  send(): Promise<Problem> {
    return sendCommand('send', { method: 'POST' });
  }

  run(scenario: Scenario, isAuto: boolean): Promise<Problem> {
    return sendCommand(`run/${scenario}${isAuto ? '?auto=true' : ''}`, { method: 'POST' });
  }

  stop(): Promise<Problem> {
    return sendCommand('stop', { method: 'POST' });
  }

  change(settings: Settings, isAuto: boolean): Promise<Problem> {
    const headers = { 'Content-Type': 'application/json' };
    return sendCommand(`settings${isAuto ? '?auto=true' : ''}`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(settings),
    });
  }

  reset(): Promise<Problem> {
    return sendCommand('reset', { method: 'POST' });
  }
}
