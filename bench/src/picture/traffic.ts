/** The requests of one client. */
export interface Traffic {
  readonly title: string;
  readonly note: string;
  /** The time of each request in microseconds. */
  readonly times: readonly number[];
}

export const LIMIT = 60;
export const END_SECONDS = 180;
/** Not at the start of a minute, because clients do not follow the clock's minutes. */
const START = 20;

export const TRAFFIC: readonly Traffic[] = [
  { title: 'Steady', note: '90 a minute', times: evenly(START, END_SECONDS, 90) },
  { title: 'One burst', note: '120 within 8 seconds', times: evenly(START, START + 8, 900) },
  {
    title: 'Around the minute boundary',
    note: '60 by 0:59, at 1:01, at 1:02',
    // The window of the clock ends at 1:00. The one that the first request starts ends at 1:02.
    times: [...atOnce(2, 1), ...atOnce(59, 59), ...atOnce(61, 60), ...atOnce(62, 60)],
  },
  { title: 'Hammering', note: '300 a minute', times: evenly(START, END_SECONDS, 300) },
];

/** Evenly spread requests at a rate per minute, from one second to another. */
function evenly(from: number, to: number, perMinute: number): number[] {
  const count = Math.round(((to - from) / 60) * perMinute);
  return Array.from({ length: count }, (_, index) => Math.round((from + (index * 60) / perMinute) * 1e6));
}

function atOnce(second: number, count: number): number[] {
  return Array.from({ length: count }, () => second * 1e6);
}
