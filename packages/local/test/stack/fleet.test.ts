import { clientIdOf } from '../../src/stack/fleet.js';

it('each process has a name of its own in Kafka, in its stack and beside others, and keeps it', () => {
  const names = ['/one/.data', '/two/.data'].flatMap((dataDir) =>
    ['delivery-worker', 'delivery-worker-2', 'query-api'].map((name) => clientIdOf(name, dataDir)),
  );
  expect(new Set(names).size).toBe(names.length);
  expect(clientIdOf('delivery-worker', '/one/.data')).toBe(names[0]);
});
