import { jobFault } from '../../src/measure/job-account.js';

const COUNTED = { matched: 100, matchedIsLowerBound: false };
const job = { state: 'completed', ...COUNTED, sent: 100, refused: 0, expired: 0 } as const;
const totals = { accepted: 100, delivered: 100, duplicates: 2, refused: 0, strangers: 0 };
const RIGHT = { named: 100, counted: COUNTED, job, totals };

describe('jobFault', () => {
  it('finds none when exactly what was named came again, be it twice, however far it was counted', () => {
    expect(jobFault(RIGHT)).toBeUndefined();
    expect(jobFault({ ...RIGHT, counted: { matched: 99, matchedIsLowerBound: true } })).toBeUndefined();
  });

  it.each([
    [{ counted: { ...COUNTED, matched: 99 } }, 'the dry run counted 99 of 100 deliveries'],
    [{ counted: { matched: 101, matchedIsLowerBound: true } }, 'the dry run counted 101 of 100 deliveries'],
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
