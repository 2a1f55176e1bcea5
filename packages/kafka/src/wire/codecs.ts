import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { decompressFrameSync } from 'lz4-napi';
import snappy from 'snappyjs';
import { MAX_BYTES } from './batch-frame.js';
import { ByteReader } from './bytes.js';

const XERIAL_MAGIC = Buffer.from('\x82SNAPPY\0', 'latin1');

/**
 * The bytes of a batch's records, unpacked by the codec of its attributes (KIP-110 for zstd). Synchronous on purpose: a
 * batch is at most some hundred KiB, and a trip through the thread pool costs more CPU than it saves. Throws when the
 * codec is unknown, the bytes are damaged or the result would be larger than 64 MiB.
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

/** librdkafka writes one raw snappy block, Java clients write xerial's framing: magic and two versions, then (length, block) pairs. */
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

/** The library knows no bound, so the frame's blocks are counted before anything is unpacked. */
function unpackLz4(packed: Buffer): Buffer {
  if (lz4Bound(packed) > MAX_BYTES) throw new Error('lz4 frame may unpack to more than 64 MiB');
  return decompressFrameSync(packed);
}

/** LZ4 frame format 1.6: magic, FLG, BD, [content size], [dictionary], header checksum, then blocks until a zero length. */
function lz4Bound(frame: Buffer): number {
  if (frame.readUInt32LE(0) !== 0x184d2204) throw new Error('not an lz4 frame');
  const flags = frame.readUInt8(4);
  const maxBlockBytes = 2 ** (8 + 2 * ((frame.readUInt8(5) >> 4) & 7));
  const checksumBytes = flags & 0x10 ? 4 : 0;
  let at = 7 + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
  let bound = 0;
  for (let length = frame.readUInt32LE(at); length !== 0; length = frame.readUInt32LE(at)) {
    const bytes = length & 0x7fff_ffff;
    // The highest bit: as it is. Else a byte of a block stands for 255 at most.
    bound += bytes === length ? Math.min(maxBlockBytes, bytes * 255) : bytes;
    at += 4 + bytes + checksumBytes;
  }
  return bound;
}
