/** When the events of an open-loop run are due: at a fixed rate, whatever has become of the earlier ones. */
export interface Schedule {
  readonly count: number;
  /** Moment at which an event (from 0) is due. */
  dueAt(index: number): number;
  /** How many events are due at a moment, all earlier ones included. */
  dueBy(now: number): number;
}

/** Times in microseconds; throws for a rate that is not above 0. */
export function planSchedule(
  { count, perSecond }: { readonly count: number; readonly perSecond: number },
  startAt: number,
): Schedule {
  if (!(perSecond > 0)) throw new Error(`expected a rate above 0 events a second, came ${perSecond}`);
  const stepMicros = 1_000_000 / perSecond;
  return {
    count,
    dueAt: (index) => startAt + index * stepMicros,
    dueBy: (now) => (now < startAt ? 0 : Math.min(count, Math.floor((now - startAt) / stepMicros) + 1)),
  };
}
