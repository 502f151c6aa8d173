import type { Limit } from '@rollgate/core';
import { createLimit, type LimitDescription } from '@rollgate/core/observe';

/** The limits of a description, and the names of those that this version does not know. */
export interface CreatedLimits {
  readonly limits: Readonly<Record<string, Limit>>;
  readonly unknown: readonly string[];
}

/** Creates the limits of a description, which another version of the app may have written. */
export async function createLimits(descriptions: Readonly<Record<string, LimitDescription>>): Promise<CreatedLimits> {
  const limits: Record<string, Limit> = {};
  const unknown: string[] = [];
  for (const [name, description] of Object.entries(descriptions)) {
    try {
      // It brings an implementation of calendars.
      const calendar = description.algorithm === 'calendar-window' ? await import('@rollgate/calendar') : undefined;
      limits[name] = createLimit(description, calendar?.calendarWindow);
    } catch {
      unknown.push(name);
    }
  }
  return { limits, unknown };
}
