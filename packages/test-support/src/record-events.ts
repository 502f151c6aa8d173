import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** Records the events of a diagnostics channel until `stop`. */
export function recordEvents<Event>(channel: string): { readonly events: Event[]; stop(): void } {
  const events: Event[] = [];
  const record = (event: unknown) => void events.push(event as Event);
  subscribe(channel, record);
  return { events, stop: () => void unsubscribe(channel, record) };
}
