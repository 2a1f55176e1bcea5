import { headerText } from '../../src/index.js';

it('of a repeated header the last one counts, as for whoever reads it from the wire', () => {
  expect(headerText({ a: ['1', Buffer.from('2')] }, 'a')).toBe('2');
  expect(headerText({ a: [] }, 'a')).toBeUndefined();
});
