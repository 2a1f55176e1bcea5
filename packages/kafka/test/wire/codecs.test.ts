import { createRequire } from 'node:module';
import { decompress } from '../../src/wire/codecs.js';

interface Compressor {
  compress(bytes: Uint8Array): Uint8Array;
}
const snappy = createRequire(import.meta.url)('snappyjs') as Compressor;

const SNAPPY = 2;
const plain = Buffer.from('0123456789'.repeat(5_000));

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** The framing of xerial's snappy-java, which Kafka's Java client writes: a header, then 32 KiB blocks with their length. */
function xerial(bytes: Buffer): Buffer {
  const parts = [Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]), int32(1), int32(1)];
  for (let at = 0; at < bytes.length; at += 32_768) {
    const block = Buffer.from(snappy.compress(bytes.subarray(at, at + 32_768)));
    parts.push(int32(block.length), block);
  }
  return Buffer.concat(parts);
}

describe('decompress', () => {
  it('takes snappy as librdkafka writes it: one raw block', () => {
    expect(decompress(SNAPPY, Buffer.from(snappy.compress(plain))).equals(plain)).toBe(true);
  });

  it('takes snappy as the Java client writes it: framed blocks', () => {
    expect(decompress(SNAPPY, xerial(plain)).equals(plain)).toBe(true);
  });

  it('refuses a snappy block that says it is larger than 64 MiB', () => {
    expect(() => decompress(SNAPPY, Buffer.from([0xff, 0xff, 0xff, 0x7f, 0x00]))).toThrow(/too big/);
  });

  it('leaves what is not packed as it is', () => {
    expect(decompress(0, plain)).toBe(plain);
  });
});
