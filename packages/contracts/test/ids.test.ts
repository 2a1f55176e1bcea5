import { base32, deliveryIdOf, deriveEventId } from '../src/index.js';

describe('base32', () => {
  // RFC 4648 §10, in lower case and without padding.
  it.each([
    ['', ''],
    ['f', 'my'],
    ['fo', 'mzxq'],
    ['foo', 'mzxw6'],
    ['foob', 'mzxw6yq'],
    ['fooba', 'mzxw6ytb'],
    ['foobar', 'mzxw6ytboi'],
  ])('%j is %j', (text, expected) => {
    expect(base32(text)).toBe(expected);
  });

  it('has the right length after a longer text and above the size of the shared buffer', () => {
    // Five bytes are eight characters, whatever stands before them.
    for (const times of [400, 3, 250, 2_000, 1])
      expect(base32('fooba'.repeat(times))).toBe('mzxw6ytb'.repeat(times));
    expect(base32('\xff'.repeat(32))).toBe(`${'7'.repeat(51)}q`);
  });
});

const reversal = (status: 'DEVOLVIDO' | 'NAO_REALIZADO', amount = '1.00') =>
  ({
    eventType: 'PIX_REVERSAL',
    data: { endToEndId: 'E', reversalId: 'r', rtrId: 'D1', amount, status },
  }) as const;

describe('a derived event id', () => {
  it('is the same for the same fact, whatever else the event says', () => {
    expect(deriveEventId('acme', reversal('DEVOLVIDO'))).toBe(
      deriveEventId('acme', reversal('DEVOLVIDO', '2.00')),
    );
  });

  it('differs by tenant and by state', () => {
    const ids = [
      deriveEventId('acme', reversal('DEVOLVIDO')),
      deriveEventId('other', reversal('DEVOLVIDO')),
      deriveEventId('acme', reversal('NAO_REALIZADO')),
    ];
    expect(new Set(ids).size).toBe(3);
  });

  it('is an event id', () => {
    expect(deriveEventId('acme', reversal('DEVOLVIDO'))).toMatch(/^evt_[a-z2-7]{52}$/);
  });
});

describe('a delivery id', () => {
  it('is one name for each tenant, configuration and event', () => {
    const ids = [deliveryIdOf('a', 'b', 'c'), deliveryIdOf('a', 'c', 'b'), deliveryIdOf('ab', '', 'c')];
    expect(new Set(ids).size).toBe(3);
    expect(ids[0]).toMatch(/^[a-z2-7]{52}$/);
  });
});
