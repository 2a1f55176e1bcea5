import { parseStrictJson } from '../../src/index.js';

const utf8 = (text: string) => Buffer.from(text);
const fault = (input: string | Uint8Array) => {
  const result = parseStrictJson(input);
  return result.ok ? 'none' : result.fault;
};

describe('strict JSON', () => {
  it.each([
    ['{"a":1,"b":{"a":[1,{"a":2}]}}', 'none'],
    ['{"a":":{}[]\\":","b":"\\\\"}', 'none'],
    ['{"__proto__":1}', 'none'],
    ['"\\u0041"', 'none'],
    ['', 'not-json'],
    ['{', 'not-json'],
    ['{"a":1} x', 'not-json'],
    ['{"a":1,}', 'not-json'],
    ['NaN', 'not-json'],
    ['{"a":"\u0000"}', 'not-json'],
    ['{"a":1,"a":1}', 'duplicate-key'],
    ['{"a":1,"\\u0061":2}', 'duplicate-key'],
    ['[{"x":{"k":1,"k":2}}]', 'duplicate-key'],
    ['{"a":"\\u0000"}', 'forbidden-character'],
    ['{"\\u0000":1}', 'forbidden-character'],
    ['{"a":"\\ud800"}', 'forbidden-character'],
    ['{"a":["\\udc00\\ud800"]}', 'forbidden-character'],
    ['{"a":"\\ud83d\\ude00"}', 'none'],
    ['['.repeat(33) + ']'.repeat(33), 'too-deep'],
    ['['.repeat(32) + ']'.repeat(32), 'none'],
  ])('%s: %s', (text, expected) => {
    expect(fault(utf8(text))).toBe(expected);
    expect(fault(text)).toBe(expected);
  });

  it.each([
    ['{"a":1,}', 'column 8'],
    ['{"a":1,\n"b" 2}', 'line 2 column 5'],
    ['{"a":tru}', undefined],
  ])('says where %j ceases to be JSON: %s', (text, at) => {
    expect(parseStrictJson(text)).toEqual({
      ok: false,
      fault: 'not-json',
      ...(at === undefined ? {} : { at }),
      values: expect.any(Number) as unknown,
    });
  });

  it.each(['[1,1,1,1]', '{"a":1,"b":2}', '[[[[]]]]'])(
    'may bound the values of %s before they are made',
    (text) => {
      expect(parseStrictJson(text, { maxValues: 4 }).ok).toBe(true);
      expect(parseStrictJson(text, { maxValues: 3 })).toMatchObject({ ok: false, fault: 'too-many-values' });
    },
  );

  it('refuses bytes that are not UTF-8', () => {
    expect(fault(Buffer.from([0x22, 0xff, 0x22]))).toBe('not-utf8');
    expect(fault(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))).toBe('not-utf8');
  });

  it('does not recurse into a text that is nested a million deep', () => {
    expect(fault('['.repeat(1_000_000))).toBe('too-deep');
  });

  it('takes linear time for long runs of backslashes and quotes', () => {
    const text = JSON.stringify({ a: '\\"'.repeat(200_000) });
    expect(fault(text)).toBe('none');
  });
});
