import { ByteReader, ByteWriter, varintSize } from '../../src/wire/bytes.js';
import { murmur2 } from '../../src/wire/record-batch.js';

describe('wire encodings', () => {
  it('hashes keys as the tests of Kafka’s Java client expect (UtilsTest.testMurmur2)', () => {
    expect(murmur2(Buffer.from('21'))).toBe(-973932308);
    expect(murmur2(Buffer.from('foobar'))).toBe(-790332482);
    expect(murmur2(Buffer.from('abc'))).toBe(479470107);
    expect(murmur2(Buffer.from('a-little-bit-long-string'))).toBe(-985981536);
  });

  it.each([0, 1, -1, 63, 64, -64, -65, 300, 2 ** 31, -(2 ** 31), 1_764_000_000_000, -86_400_000_000])(
    'writes and reads %d as a varint',
    (value) => {
      const out = new ByteWriter(varintSize(value)).varint(value);
      expect(out.at).toBe(varintSize(value));
      expect(new ByteReader(out.buffer).varint()).toBe(value);
    },
  );

  it.each([0, 1, -1, 2 ** 32, 2 ** 53 - 1, -(2 ** 40)])('writes and reads %d as an int64', (value) => {
    const { buffer } = new ByteWriter(8).int64(value);
    expect(buffer.readBigInt64BE()).toBe(BigInt(value));
    expect(new ByteReader(buffer).int64()).toBe(value);
  });
});
