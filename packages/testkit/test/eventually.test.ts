import { eventually } from '../src/index.js';

describe('eventually', () => {
  it('gives back the first value that is not false', async () => {
    let asked = 0;
    const found = await eventually(() => (++asked < 3 ? false : asked), { intervalMs: 1 });
    expect(found).toBe(3);
  });

  it('takes a check without a value as passed once it stops throwing', async () => {
    let asked = 0;
    await eventually(
      () => {
        asked += 1;
        expect(asked).toBeGreaterThan(2);
      },
      { intervalMs: 1 },
    );
    expect(asked).toBe(3);
  });

  it('says what was expected, for how long, and what it saw last', async () => {
    const failing = eventually(
      async () => {
        await new Promise(setImmediate);
        throw new Error('still 4');
      },
      { timeoutMs: 20, intervalMs: 5, message: 'five events arrive' },
    );
    await expect(failing).rejects.toThrow('expected within 20 ms that five events arrive: still 4');
  });

  it('throws at the deadline when the check does not settle', async () => {
    const { promise: never } = Promise.withResolvers<boolean>();
    const failing = eventually(() => never, { timeoutMs: 20, intervalMs: 5, message: 'a call returns' });
    await expect(failing).rejects.toThrow('expected within 20 ms that a call returns');
  });
});
