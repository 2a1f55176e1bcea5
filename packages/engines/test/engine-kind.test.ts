import { chooseEngine } from '../src/engine-kind.js';

describe('the order of choice', () => {
  const address = 'broker:9092';

  it.each([
    [
      'an address comes first',
      { KAFKA_BROKERS: address, ENGINES: 'containers' },
      { kind: 'address', address },
    ],
    ['then containers when ENGINES says so', { ENGINES: 'containers' }, { kind: 'container' }],
    ['then the embedded engine', {}, { kind: 'embedded' }],
    ['an empty address is none', { KAFKA_BROKERS: ' ', ENGINES: '' }, { kind: 'embedded' }],
    ['the other engine’s address does not count', { MONGODB_URI: 'mongodb://x' }, { kind: 'embedded' }],
    ['embedded can be named', { ENGINES: 'embedded' }, { kind: 'embedded' }],
  ])('%s', (_rule, env, choice) => {
    expect(chooseEngine(env, 'KAFKA_BROKERS')).toEqual(choice);
  });

  it('refuses a value it does not know instead of guessing', () => {
    expect(() => chooseEngine({ ENGINES: 'docker' }, 'MONGODB_URI')).toThrow(
      'ENGINES: expected "containers" or "embedded", came "docker"',
    );
  });
});
