import { jobFault } from '../../src/measure/job-account.js';

const job = { state: 'completed', matched: 100, sent: 100, refused: 0, expired: 0 } as const;
const totals = { accepted: 100, delivered: 100, duplicates: 2, refused: 0, strangers: 0 };
const RIGHT = { named: 100, counted: 100, job, totals };

describe('jobFault', () => {
  it('finds none when exactly what was named came again, be it twice', () => {
    expect(jobFault(RIGHT)).toBeUndefined();
  });

  it.each([
    [{ counted: 99 }, 'the dry run counted 99 of 100 deliveries'],
    [{ job: { ...job, state: 'running' } }, 'the job is running'],
    [{ job: { ...job, matched: 101 } }, 'the job matched 101 of 100 deliveries'],
    [{ job: { ...job, sent: 97, expired: 1, refused: 2 } }, '3 deliveries were not sent again'],
    [{ job: { ...job, sent: 99 } }, 'the job sent 99 of 100 deliveries'],
    [{ totals: { ...totals, strangers: 1 } }, '1 deliveries were sent again that nobody named'],
    [{ totals: { ...totals, delivered: 98 } }, '98 of 100 deliveries came again'],
  ] as const)('names what is wrong: %j', (wrong, fault) => {
    expect(jobFault({ ...RIGHT, ...wrong })).toBe(fault);
  });
});
