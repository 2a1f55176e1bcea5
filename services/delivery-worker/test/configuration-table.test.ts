import { ConfigurationTable } from '../src/configurations/configuration-cache.js';
import { toConfiguration } from '../src/configurations/configuration.js';
import type { Configuration } from '../src/configurations/configuration.js';
import { buildRecord, REF } from './builders.js';

const configuration = (over = {}) => toConfiguration(buildRecord(over), { keys: [] });
const OTHER = REF.replace(/1$/, '2');

describe('the table of configurations', () => {
  it('finds by key and by tenant and type', () => {
    const table = new ConfigurationTable();
    table.apply(configuration());
    table.apply(configuration({ ref: OTHER }));
    expect(table.find('acme', REF)?.target).toEqual({ origin: 'https://hook.acme.com.br', path: '/pix?x=1' });
    expect(table.find('globex', REF)).toBeUndefined();
    expect(table.enabledFor('acme', 'PIX_OUT').map(({ ref }) => ref)).toEqual([REF, OTHER]);
    expect(table.enabledFor('acme', 'PIX_STATIC')).toEqual([]);
  });

  it('moves a configuration whose type changed, and drops one that was disabled', () => {
    const table = new ConfigurationTable();
    table.apply(configuration());
    table.apply(configuration({ revision: 2, eventType: 'PIX_STATIC' }));
    expect(table.enabledFor('acme', 'PIX_OUT')).toEqual([]);
    expect(table.enabledFor('acme', 'PIX_STATIC')).toHaveLength(1);
    expect(table.apply(configuration({ revision: 1, eventType: 'PIX_STATIC', enabled: false }))).toBe(false);
    expect(table.enabledFor('acme', 'PIX_STATIC')).toHaveLength(1);
    table.apply(configuration({ revision: 3, eventType: 'PIX_STATIC', enabled: false }));
    expect(table.enabledFor('acme', 'PIX_STATIC')).toEqual([]);
    expect(table.size).toBe(1);
  });

  it('never changes a list that it has given', () => {
    const table = new ConfigurationTable();
    table.apply(configuration());
    table.apply(configuration({ ref: OTHER }));
    const held = table.enabledFor('acme', 'PIX_OUT');
    const before = [...held];
    table.apply(configuration({ ref: REF.replace(/1$/, '3') }));
    table.apply(configuration({ ref: OTHER, revision: 2, endpointUrl: 'https://new.acme.com.br/' }));
    table.apply(configuration({ revision: 2, enabled: false }));
    expect([...held]).toEqual(before);
    expect(table.enabledFor('acme', 'PIX_OUT').map(({ ref, revision }) => `${ref} ${revision}`)).toEqual([
      `${OTHER} 2`,
      `${REF.replace(/1$/, '3')} 1`,
    ]);
  });

  it('keeps tenants apart, even if their names are properties of every object', () => {
    const table = new ConfigurationTable();
    table.apply(configuration({ tenantId: 'constructor' }));
    expect(table.enabledFor('__proto__', 'PIX_OUT')).toEqual([]);
    expect(table.enabledFor('constructor', 'PIX_OUT')).toHaveLength(1);
    expect(table.find('acme', REF)).toBeUndefined();
    expect(table.size).toBe(1);
  });
});

/** A configuration that counts how often it is looked at. */
function counted(index: number, looks: { count: number }): Configuration {
  const plain = configuration({ ref: `${REF.slice(0, -4)}${index.toString(16).padStart(4, '0')}` });
  return new Proxy(plain, {
    get: (target, name) => {
      looks.count += 1;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

describe('a route of 5,000 configurations', () => {
  const looks = { count: 0 };
  const table = new ConfigurationTable();
  for (let index = 0; index < 5_000; index += 1) table.apply(counted(index, looks));

  it('is filled by looking at each new one a few times, never at the others again', () => {
    expect(looks.count).toBeLessThan(5_000 * 10);
  });

  it('is found without reading its configurations, once it is sorted', () => {
    table.enabledFor('acme', 'PIX_OUT');
    looks.count = 0;
    const list = table.enabledFor('acme', 'PIX_OUT');
    expect(list).toHaveLength(5_000);
    expect(table.find('acme', `${REF.slice(0, -4)}0fff`)).toBeDefined();
    expect(looks.count).toBe(0);
  });

  it('is a list of its own for each event: it does not change with the table', () => {
    const list = table.enabledFor('acme', 'PIX_OUT');
    table.apply(counted(5_000, looks));
    expect([list.length, table.enabledFor('acme', 'PIX_OUT').length]).toEqual([5_000, 5_001]);
  });
});
