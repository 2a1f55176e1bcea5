import { formatCents, parseCents } from '../../src/payments/view-transaction.js';

it.each([
  ['0.00', 0],
  ['0.01', 1],
  ['4.35', 435],
  ['110.10', 11_010],
  ['9999999999.99', 999_999_999_999],
])('%s is %d cents, and back', (text, cents) => {
  expect(parseCents(text)).toBe(cents);
  expect(formatCents(cents)).toBe(text);
});

it('zeros in front add nothing', () => {
  expect(formatCents(parseCents('0000000010.00'))).toBe('10.00');
});

it('a thousand of the largest amounts add up exactly', () => {
  const sum = Array.from({ length: 1_000 }, () => parseCents('9999999999.99')).reduce(
    (all, one) => all + one,
    0,
  );
  expect(formatCents(sum)).toBe('9999999999990.00');
});
