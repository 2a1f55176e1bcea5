import { RevisionTable } from '../../src/index.js';

const row = (tenantId: string, ref: string, revision: number) => ({ tenantId, ref, revision });

describe('a revision table', () => {
  it('applies only a higher revision', () => {
    const table = new RevisionTable();
    const first = row('acme', 'a', 2);
    expect(table.apply(first)).toBe(true);
    expect(table.apply(row('acme', 'a', 2))).toBe(false);
    expect(table.apply(row('acme', 'a', 1))).toBe(false);
    expect(table.find('acme', 'a')).toBe(first);
    expect(table.apply(row('acme', 'a', 3))).toBe(true);
    expect([table.find('acme', 'a')?.revision, table.size]).toEqual([3, 1]);
  });

  it('keeps tenants apart, even with names of properties that every object has', () => {
    const table = new RevisionTable();
    table.apply(row('constructor', 'a', 1));
    expect(table.find('__proto__', 'a')).toBeUndefined();
    expect([table.hasTenant('constructor'), table.hasTenant('__proto__')]).toEqual([true, false]);
    table.apply(row('acme', 'b', 1));
    expect(table.find('constructor', 'b')).toBeUndefined();
    expect(table.size).toBe(2);
  });
});
