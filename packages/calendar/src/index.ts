export { type CalendarWindowOptions, calendarWindow } from './calendar-window.js';
export type { Anchor, CalendarMonths, CalendarPeriod } from './days.js';
