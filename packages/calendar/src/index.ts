export { type CalendarWindowOptions, calendarWindow } from './calendar-window.js';
export type { Anchor, CalendarPeriod } from './days.js';
