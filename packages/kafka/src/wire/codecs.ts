import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { decompressFrameSync } from 'lz4-napi';
import snappy from 'snappyjs';
import { MAX_BYTES } from './batch-frame.js';
import { ByteReader } from './bytes.js';

const XERIAL_MAGIC = Buffer.from('\x82SNAPPY\0', 'latin1');

/**
 * Unpacks the records of a batch by the codec of its attributes (KIP-110 for zstd). It is synchronous: a batch has at most some hundred
 * KiB, and the thread pool would cost more CPU time than it saves. Throws when the codec is unknown, the bytes are damaged, or the result
 * would be larger than 64 MiB.
 */
export function unpack(attributes: number, packed: Buffer): Buffer {
  const codec = attributes & 0x07;
  if (codec === 0) return packed;
  if (codec === 1) return gunzipSync(packed, { maxOutputLength: MAX_BYTES });
  if (codec === 2) return unpackSnappy(packed);
  if (codec === 3) return unpackLz4(packed);
  if (codec === 4) return zstdDecompressSync(packed, { maxOutputLength: MAX_BYTES });
  throw new Error(`unknown compression codec ${codec}`);
}

/** librdkafka writes one raw block. Java clients write xerial's frame: magic, two versions, then pairs of length and block. */
function unpackSnappy(packed: Buffer): Buffer {
  const isFramed = packed.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC);
  if (!isFramed) return snappyBlock(packed, MAX_BYTES);
  const blocks: Buffer[] = [];
  let capacity = MAX_BYTES;
  for (const reader = new ByteReader(packed, 16); reader.at < packed.length;) {
    const block = snappyBlock(reader.bytes(), capacity);
    capacity -= block.length;
    blocks.push(block);
  }
  return Buffer.concat(blocks);
}

function snappyBlock(packed: Buffer, maxBytes: number): Buffer {
  const { buffer, byteOffset, byteLength } = snappy.uncompress(packed, maxBytes);
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** The library has no bound for the result, so the frame's blocks are added up first. */
function unpackLz4(packed: Buffer): Buffer {
  if (lz4Bound(packed) > MAX_BYTES) throw new Error('lz4 frame may unpack to more than 64 MiB');
  return decompressFrameSync(packed);
}

/**
 * The most bytes that a frame may unpack to. LZ4 frame format 1.6: magic, FLG, BD, [content size], [dictionary], header checksum, then
 * blocks until a length of zero.
 */
function lz4Bound(frame: Buffer): number {
  if (frame.readUInt32LE(0) !== 0x184d2204) throw new Error('not an lz4 frame');
  const flags = frame.readUInt8(4);
  const maxBlockBytes = 2 ** (8 + 2 * ((frame.readUInt8(5) >> 4) & 7));
  const checksumBytes = flags & 0x10 ? 4 : 0;
  let at = 7 + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
  let bound = 0;
  for (let length = frame.readUInt32LE(at); length !== 0; length = frame.readUInt32LE(at)) {
    const bytes = length & 0x7fff_ffff;
    // With the highest bit the block is not packed. A packed byte becomes at most 255 bytes.
    bound += bytes === length ? Math.min(maxBlockBytes, bytes * 255) : bytes;
    at += 4 + bytes + checksumBytes;
  }
  return bound;
}
