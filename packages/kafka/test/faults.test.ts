import { faultOf } from '../src/faults.js';

describe('fault', () => {
  it('gives its message as `error`, so that a log line keeps its own message', () => {
    const cause = Object.assign(new Error('inner'), { type: 'NOT_CONTROLLER' });
    expect(faultOf(new TypeError('outer', { cause }))).toEqual({
      name: 'TypeError',
      error: 'outer',
      type: 'NOT_CONTROLLER',
    });
    expect(faultOf('text')).toEqual({ name: 'Error', error: 'text', type: undefined });
  });
});
