import {
  BAD,
  SECOND,
  Simulation,
  answers,
  delayMs,
  healthyTargets,
  shareDelivered,
  targetOf,
} from './simulation.js';
import type { Target } from './simulation.js';

const BAD_HANG = answers(10_000, 'TIMEOUT');
const until = 10 * SECOND;

/** What a neighbour of a bad endpoint may notice at most. */
const UNNOTICED_MS = 20;

it('ten healthy endpoints get each event at once, and nothing is written to Kafka', async () => {
  const simulation = new Simulation();
  const healthy = healthyTargets(10);
  simulation.send(healthy, 100, { until });
  await simulation.run();
  expect(delayMs(simulation, healthy, 100)).toBeLessThan(UNNOTICED_MS);
  expect(simulation.appends).toBe(0);
});

describe.each(Object.entries(BAD))('an endpoint that %s', (_how, behaviour) => {
  // Beyond the end of the first attempts.
  const until = behaviour(0).afterMs + 5 * SECOND;

  it.each([1, 3])('(%i of ten) delays nobody else', async (count) => {
    const simulation = new Simulation();
    const healthy = healthyTargets(10 - count);
    const bad = Array.from({ length: count }, (_, index) => targetOf(`bad-${index}`, behaviour));
    simulation.send([...healthy, ...bad], 200, { until });
    await simulation.run(until + SECOND);
    expect(shareDelivered(simulation, healthy)).toBe(1);
    expect(delayMs(simulation, healthy, 99.9)).toBeLessThan(UNNOTICED_MS);
  });

  it('(twenty of thirty at once, with all the connections they may have) delays the others for a moment', async () => {
    const simulation = new Simulation();
    const healthy = healthyTargets(10);
    const turning = Array.from({ length: 20 }, (_, index) =>
      targetOf(`bad-${index}`, (now) => (now < SECOND ? answers(100) : behaviour)(now)),
    );
    simulation.send(healthy, 50, { until });
    simulation.send(turning, 200, { until: 3 * SECOND });
    await simulation.run(until + SECOND);
    expect(shareDelivered(simulation, healthy)).toBe(1);
    expect(delayMs(simulation, healthy, 95)).toBeLessThan(UNNOTICED_MS);
    expect(delayMs(simulation, healthy, 100)).toBeLessThan(500);
  });
});

describe('one endpoint that is sent more than it takes', () => {
  it.each([
    [20, 5_000, 'a tenant of its own'],
    [200, 1_000, 'a tenant of its own'],
    [20, 5_000, 'the tenant of the others'],
  ])(
    '(answers after %i ms, %i events a second, %s) delays nobody else, and gets all at its own pace',
    async (afterMs, perSecond, whose) => {
      const simulation = new Simulation();
      const isShared = whose === 'the tenant of the others';
      const healthy = Array.from({ length: 9 }, (_, index) =>
        targetOf(`healthy-${index}`, answers(5), isShared ? 'acme' : `healthy-${index}`),
      );
      const flooded = targetOf('flooded', answers(afterMs), 'acme');
      simulation.send([flooded], perSecond, { until: 5 * SECOND });
      simulation.send(healthy, 100, { until });
      await simulation.run();
      expect(delayMs(simulation, healthy, 99.9)).toBeLessThan(UNNOTICED_MS);
      const idealMs = (5 * perSecond * afterMs) / 64;
      expect(simulation.lastDeliveryTo(flooded)).toBeLessThan(1.25 * idealMs);
    },
  );

  it('in a burst, and alone, is read at its pace: less than 2 % is deferred', async () => {
    const simulation = new Simulation();
    let attempts = 0;
    const handshakesMs = 100;
    const alone = targetOf('alone', () => ({
      afterMs: (attempts += 1) <= 64 ? handshakesMs : 20,
      status: 200,
    }));
    simulation.send([alone], 8_000, { until: SECOND });
    await simulation.run();
    expect(shareDelivered(simulation, [alone])).toBe(1);
    expect(simulation.appends).toBeLessThan(0.02 * 8_000);
  });
});

it.each([2, 3])(
  '%i endpoints that are sent more than they take delay others by a fifth of a second',
  async (count) => {
    const simulation = new Simulation();
    const healthy = healthyTargets(9);
    const flooded = Array.from({ length: count }, (_, index) => targetOf(`flooded-${index}`, answers(200)));
    simulation.send(flooded, 1_000, { until: 5 * SECOND });
    simulation.send(healthy, 100, { until });
    await simulation.run();
    expect(delayMs(simulation, healthy, 99.9)).toBeLessThan(200);
    const idealMs = (5 * 1_000 * 200) / 64;
    expect(simulation.lastDelivery()).toBeLessThan(1.5 * idealMs);
  },
);

it.each([20, 100])(
  'a cold endpoint of 400 ms that is sent %i events a second waits for no detour',
  async (perSecond) => {
    const simulation = new Simulation();
    const cold = targetOf('cold', answers(400));
    const healthy = healthyTargets(9);
    simulation.send([cold], perSecond, { until });
    simulation.send(healthy, 100, { until });
    await simulation.run();
    expect(delayMs(simulation, [cold], 100)).toBeLessThan(SECOND);
    expect(delayMs(simulation, healthy, 100)).toBeLessThan(UNNOTICED_MS);
    expect(simulation.appends).toBe(0);
  },
);

it('our own pauses of 300 ms defer nothing, and delay by no more than themselves', async () => {
  const pauses = Array.from({ length: 10 }, (_, index) => ({ at: 500 + index * SECOND, forMs: 300 }));
  const simulation = new Simulation({ pauses });
  const targets = [...healthyTargets(10), targetOf('slow', answers(150))];
  simulation.send(targets, 100, { until });
  await simulation.run();
  expect(simulation.appends).toBe(0);
  expect(delayMs(simulation, targets, 100)).toBeLessThan(300 + 300 + UNNOTICED_MS);
});

it('one of a hundred tenants that brings 90 % of the events delays no other, and gets all of its own', async () => {
  const simulation = new Simulation();
  const big: readonly Target[] = Array.from({ length: 20 }, (_, index) =>
    targetOf(`big-${index}`, answers(200), 'big'),
  );
  const others = healthyTargets(99, 50);
  simulation.send(big, 225, { until: 4 * SECOND });
  simulation.send(others, 5, { until: 4 * SECOND });
  await simulation.run();
  expect(delayMs(simulation, others, 99.9)).toBeLessThan(50 + UNNOTICED_MS);
  expect(shareDelivered(simulation, big)).toBe(1);
  // 18,000 deliveries with half of 1,024 slots.
  expect(simulation.lastDelivery()).toBeLessThan(1.5 * ((18_000 * 200) / 512));
});

it('an endpoint that takes 2 s, and gets no more than it can take, has no delivery deferred', async () => {
  const simulation = new Simulation();
  const slow = targetOf('slow', answers(2_000));
  simulation.send([slow], 6, { until: SECOND * 5 });
  simulation.send([slow], 25, { from: 5 * SECOND, until: 30 * SECOND });
  await simulation.run();
  expect(simulation.appends).toBe(0);
  expect(delayMs(simulation, [slow], 99)).toBeLessThan(4 * SECOND);
});

it('a request that hangs says nothing about the next burst', async () => {
  const simulation = new Simulation();
  let attempts = 0;
  const bursts = targetOf('bursts', () => ((attempts += 1) % 31 === 1 ? BAD_HANG : answers(5))(0));
  for (let at = 0; at < 60 * SECOND; at += 4 * SECOND)
    simulation.send([bursts], 31_000, { from: at, until: at + 1 });
  await simulation.run(58 * SECOND);
  expect(delayMs(simulation, [bursts], 90)).toBeLessThan(UNNOTICED_MS);
});

it('while the worker is overloaded, retries get their turn beside new events', async () => {
  const simulation = new Simulation({ maxAttempts: 32 });
  let attempts = 0;
  const targets = Array.from({ length: 10 }, (_, index) =>
    targetOf(`some-fail-${index}`, () => ({ afterMs: 10, status: (attempts += 1) % 50 === 0 ? 500 : 200 })),
  );
  simulation.send(targets, 400, { until: 20 * SECOND });
  await simulation.run();
  const retried = simulation.deliveries.filter(({ attempt, bornAt }) => attempt === 2 && bornAt < 8 * SECOND);
  const waits = retried.map(({ readAt, deliveredAt }) => deliveredAt - readAt).sort((a, b) => a - b);
  // The second attempt is due after 5 s.
  expect(waits[Math.floor(waits.length / 2)]).toBeLessThan(6 * SECOND);
  expect(waits.at(-1)).toBeLessThan(10 * SECOND);
});

it('an endpoint at which every other attempt times out delays nobody else, and no delivery is deferred more than 40 times', async () => {
  const simulation = new Simulation();
  let attempts = 0;
  const moody = targetOf('moody', () => ((attempts += 1) % 2 === 1 ? BAD_HANG : answers(20))(0));
  const healthy = healthyTargets(9);
  simulation.send([moody], 40, { until: 60 * SECOND });
  simulation.send(healthy, 50, { until: 60 * SECOND });
  await simulation.run();
  expect(shareDelivered(simulation, healthy)).toBe(1);
  expect(delayMs(simulation, healthy, 99.9)).toBeLessThan(UNNOTICED_MS);
  const deferrals = simulation.deliveries.filter(({ to }) => to === moody).map((one) => one.deferrals);
  expect(Math.max(...deferrals)).toBeLessThanOrEqual(40);
});
