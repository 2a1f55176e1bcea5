import { replicated } from '../src/connect-kafka.js';

const SPEC = { name: 't', partitions: 1, configs: { 'cleanup.policy': 'compact' } };

describe('topics that a service creates', () => {
  it.each([
    [undefined, {}],
    [1, {}],
    [2, {}],
    [3, { 'min.insync.replicas': '2' }],
    [5, { 'min.insync.replicas': '2' }],
  ])('with %s replicas have, beyond their own configuration, %j', (replicationFactor, more) => {
    const [topic] = replicated([SPEC], replicationFactor === undefined ? {} : { replicationFactor });
    expect(topic?.configs).toEqual({ ...SPEC.configs, ...more });
    expect(topic?.replicationFactor).toBe(replicationFactor);
  });

  it('keep a minimum of their own', () => {
    const configs = { 'min.insync.replicas': '3' };
    expect(replicated([{ ...SPEC, configs }], { replicationFactor: 5 })[0]?.configs).toEqual(configs);
  });
});
