import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { decompressFrameSync } from 'lz4-napi';
import snappy from 'snappyjs';

/** What one batch may unpack to: far above any honest batch (the broker's limit is 1–16 MiB packed), below a bomb. */
export const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;

const CODEC_MASK = 0x07;
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

/**
 * The bytes of a batch's records, unpacked by the codec of its attributes (KIP-110 for zstd). Synchronous on purpose: a
 * batch is at most some hundred KiB, and a trip through the thread pool costs more CPU than it saves. Throws when the
 * codec is unknown, the bytes are damaged or the result would be larger than 64 MiB.
 */
export function unpack(attributes: number, packed: Buffer): Buffer {
  const codec = attributes & CODEC_MASK;
  if (codec === 0) return packed;
  if (codec === 1) return gunzipSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES });
  if (codec === 2) return unpackSnappy(packed);
  if (codec === 3) return unpackLz4(packed);
  if (codec === 4) return zstdDecompressSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES });
  throw new Error(`unknown compression codec ${codec}`);
}

/** librdkafka writes one raw snappy block, Java clients write xerial's framing: a header, then (length, block) pairs. */
function unpackSnappy(packed: Buffer): Buffer {
  if (!packed.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) {
    return snappyBlock(packed, MAX_UNPACKED_BYTES);
  }
  const blocks: Buffer[] = [];
  let capacity = MAX_UNPACKED_BYTES;
  for (let at = XERIAL_HEADER_BYTES; at < packed.length;) {
    const length = packed.readInt32BE(at);
    at += 4;
    const block = snappyBlock(packed.subarray(at, at + length), capacity);
    capacity -= block.length;
    blocks.push(block);
    at += length;
  }
  return Buffer.concat(blocks);
}

function snappyBlock(packed: Buffer, maxBytes: number): Buffer {
  const { buffer, byteOffset, byteLength } = snappy.uncompress(packed, maxBytes);
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** The library knows no bound, so the frame's blocks are counted before anything is unpacked. */
function unpackLz4(packed: Buffer): Buffer {
  if (lz4Bound(packed) > MAX_UNPACKED_BYTES) throw new Error('lz4 frame may unpack to more than 64 MiB');
  return decompressFrameSync(packed);
}

const LZ4_MAGIC = 0x184d2204;
const UNCOMPRESSED_BIT = 0x8000_0000;

/** LZ4 frame format 1.6: magic, FLG, BD, [content size], [dictionary], header checksum, then blocks until a zero length. */
function lz4Bound(frame: Buffer): number {
  if (frame.readUInt32LE(0) !== LZ4_MAGIC) throw new Error('not an lz4 frame');
  const flags = frame.readUInt8(4);
  const maxBlockBytes = 2 ** (8 + 2 * ((frame.readUInt8(5) >> 4) & 7));
  const checksumBytes = flags & 0x10 ? 4 : 0;
  const headerBytes = 7 + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
  return lz4BlocksBound(frame.subarray(headerBytes), maxBlockBytes, checksumBytes);
}

function lz4BlocksBound(blocks: Buffer, maxBlockBytes: number, checksumBytes: number): number {
  let bound = 0;
  let at = 0;
  for (let length = blocks.readUInt32LE(at); length !== 0; length = blocks.readUInt32LE(at)) {
    const plain = length >= UNCOMPRESSED_BIT;
    const bytes = plain ? length - UNCOMPRESSED_BIT : length;
    bound += plain ? bytes : Math.min(maxBlockBytes, bytes * 255);
    at += 4 + bytes + checksumBytes;
  }
  return bound;
}
