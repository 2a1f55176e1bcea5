import { drain } from '../../src/admission/admission.js';

function ports(ages: readonly number[], deadlineMs = 5_000) {
  let looks = 0;
  let drained = 0;
  return {
    admission: {
      beginDrain: () => {
        drained += 1;
      },
    },
    oldestAttemptMs: () => ages[Math.min(looks++, ages.length - 1)] ?? 0,
    deadlineMs,
    seen: () => ({ looks, drained }),
  };
}

it('ends at once when nothing is under way', async () => {
  const given = ports([0]);
  await drain(given.admission, given.oldestAttemptMs, given.deadlineMs);
  expect(given.seen()).toEqual({ looks: 1, drained: 1 });
});

it('waits until it is known which attempts are slow', async () => {
  const given = ports([20]);
  const startedAt = performance.now();
  await drain(given.admission, given.oldestAttemptMs, given.deadlineMs);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(999);
});

it('waits until the oldest attempt is a recent one', async () => {
  const slow = Array.from({ length: 60 }, () => 9_000);
  const given = ports([...slow, 20]);
  await drain(given.admission, given.oldestAttemptMs, given.deadlineMs);
  expect(given.seen().looks).toBeGreaterThanOrEqual(60);
});

it('ends at its deadline, whatever is under way', async () => {
  const given = ports([9_000], 100);
  const startedAt = performance.now();
  await drain(given.admission, given.oldestAttemptMs, given.deadlineMs);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(99);
});
