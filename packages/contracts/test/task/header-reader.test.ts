import { headerText } from '../../src/index.js';

it('the last of several headers with one name counts, as for readers of the wire', () => {
  expect(headerText({ a: ['1', Buffer.from('2')] }, 'a')).toBe('2');
  expect(headerText({ a: [] }, 'a')).toBeUndefined();
});
