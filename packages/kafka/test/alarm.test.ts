import { jest } from '@jest/globals';
import { Alarm } from '../src/alarm.js';

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

const openAlarm = () => {
  const rung: number[] = [];
  return { alarm: new Alarm(Date.now, () => rung.push(Date.now())), rung };
};

describe('alarm', () => {
  it('rings once, at the moment that was set last', () => {
    const { alarm, rung } = openAlarm();
    alarm.set(500);
    alarm.set(200);
    alarm.set(300);
    jest.advanceTimersByTime(1_000);
    expect(rung).toEqual([300]);
  });

  it('rings soon for a moment that is past', () => {
    const { alarm, rung } = openAlarm();
    alarm.set(-5);
    jest.advanceTimersByTime(1);
    expect(rung).toEqual([1]);
  });

  it('rings after half a minute at the latest, so that a changed clock is noticed, but never for Infinity', () => {
    const { alarm, rung } = openAlarm();
    alarm.set(3_600_000);
    jest.advanceTimersByTime(30_000);
    expect(rung).toEqual([30_000]);
    alarm.set(3_600_000);
    alarm.set(Infinity);
    jest.advanceTimersByTime(60_000);
    expect(rung).toEqual([30_000]);
  });

  it('does not ring when it was cleared', () => {
    const { alarm, rung } = openAlarm();
    alarm.set(100);
    alarm.clear();
    jest.advanceTimersByTime(1_000);
    expect(rung).toEqual([]);
  });
});
