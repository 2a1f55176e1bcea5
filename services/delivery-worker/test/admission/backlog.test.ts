import {
  BAD,
  DAY,
  MINUTE,
  SECOND,
  Simulation,
  answers,
  delayMs,
  shareDelivered,
  targetOf,
} from './simulation.js';

/** What Kafka is written for one record that waits for 8 days: 1,150 before waits grew. */
const MAX_APPENDS = 120;
const MAX_DEFERRALS = 40;
/** How they can be down. */
const DOWN = Object.entries(BAD).filter(([how]) => how !== 'takes 9 s' && !how.startsWith('drips'));

it('a hundred thousand deferred deliveries cost a few writes each, delay no neighbour, and fill no memory', async () => {
  const simulation = new Simulation();
  const busy = targetOf('busy', answers(20));
  const beside = targetOf('beside', answers(5));
  simulation.send([busy], 10_000, { until: 10 * SECOND });
  simulation.send([beside], 10, { until: 20 * SECOND });
  await simulation.run();
  expect(shareDelivered(simulation, [busy])).toBe(1);
  expect(simulation.lastDeliveryTo(busy)).toBeLessThan(1.25 * ((100_000 * 20) / 64));
  expect(simulation.appends).toBeLessThan(12 * 100_000);
  expect(delayMs(simulation, [beside], 99)).toBeLessThan(2 * SECOND);
  expect(simulation.mostInMemory).toBeLessThan(1_000);
});

it.each(DOWN)(
  'an endpoint that %s for 8 days costs each delivery at most 40 deferrals, and a last attempt',
  async (_how, behaviour) => {
    const simulation = new Simulation();
    const dead = targetOf('dead', behaviour);
    simulation.send([dead], 1 / 1_200, { until: 8 * DAY });
    await simulation.run();
    const { deliveries, appends } = simulation;
    expect(Math.max(...deliveries.map(({ deferrals }) => deferrals))).toBeLessThanOrEqual(MAX_DEFERRALS);
    expect(appends / deliveries.length).toBeLessThan(MAX_APPENDS);
    expect(deliveries.every(({ attempts }) => attempts > 0)).toBe(true);
  },
);

describe.each(DOWN)('after an outage, in which it %s, an endpoint has its backlog', (_how, behaviour) => {
  it.each([
    ['10 minutes', 10 * MINUTE, 5],
    ['3 days', 3 * DAY, 1 / 300],
  ])(
    'of %s within ten minutes or a quarter of it; those with a longer time-out have that on top for each probe',
    async (_long, outageMs, perSecond) => {
      const simulation = new Simulation();
      const down = targetOf('down', (now) => (now < outageMs ? behaviour : answers(50))(now));
      simulation.send([down], perSecond, { until: outageMs });
      await simulation.run();
      expect(shareDelivered(simulation, [down])).toBe(1);
      // Ten minutes have five probes, and each pause begins when the one before has failed, after 10 s by default.
      const probesMs = 5 * Math.max(0, behaviour(0).afterMs - 10_000);
      expect(simulation.lastDeliveryTo(down) - outageMs).toBeLessThan(
        Math.max(10 * MINUTE + probesMs, outageMs / 4),
      );
    },
  );
});
