// The entry point `@rollgate/calendar/window`: the limits alone, for a calendar of your own, without any rules of time zones.
export { type Calendar, CalendarWindow, type CalendarWindowSettings, type Period } from './counted-window.js';
export {
  LeasedCalendarWindow,
  type LeasedCalendarWindowSettings,
  type Unsettled,
} from './leased-calendar-window.js';
