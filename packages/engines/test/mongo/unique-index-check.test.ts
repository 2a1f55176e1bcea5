import { checkUniqueIndex, type UniqueKeys } from '../../src/mongo/unique-index-check.js';

const CONFLICT = new Error('E11000');

/** An index in memory, right or wrong in one respect. */
function index(fault?: 'forgets to free' | 'ignores updates' | 'ignores inserts'): UniqueKeys {
  const documents: string[] = [];
  const taken = new Set<string>();
  const refuseTaken = (key: string, checked: boolean) => {
    if (checked && taken.has(key)) throw CONFLICT;
  };
  return {
    insert: async (key) => {
      await Promise.resolve();
      refuseTaken(key, fault !== 'ignores inserts');
      taken.add(key);
      documents.push(key);
    },
    move: async (from, to) => {
      await Promise.resolve();
      refuseTaken(to, fault !== 'ignores updates');
      documents[documents.indexOf(from)] = to;
      taken.add(to);
      if (fault !== 'forgets to free') taken.delete(from);
    },
    count: () => Promise.resolve(documents.length),
    isConflict: (error) => error === CONFLICT,
  };
}

describe('the self-test of a MongoDB-compatible server', () => {
  it('accepts a server with right unique indexes', async () => {
    await expect(checkUniqueIndex(index())).resolves.toBeUndefined();
  });

  it.each([
    ['forgets to free', /updated away is still taken/],
    ['ignores updates', /an update that doubles a unique key was accepted/],
    ['ignores inserts', /an insert that doubles a unique key was accepted/],
  ] as const)('refuses one that %s', async (fault, message) => {
    await expect(checkUniqueIndex(index(fault))).rejects.toThrow(message);
  });
});
