import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { decompressFrameSync } from 'lz4-napi';
import snappy from 'snappyjs';
import { MAX_BYTES } from './batch-frame.js';
import { ByteReader } from './bytes.js';

const XERIAL_MAGIC = Buffer.from('\x82SNAPPY\0', 'latin1');

/**
 * Decompresses the records of a batch with the codec in its attributes (KIP-110 for zstd). It is synchronous: a
 * batch has at most some hundred KiB, and the thread pool would cost more CPU time than it saves. Throws when the
 * codec is unknown, the bytes are corrupt, or the result would exceed 64 MiB.
 */
export function decompress(attributes: number, compressed: Buffer): Buffer {
  const codec = attributes & 0x07;
  if (codec === 0) return compressed;
  if (codec === 1) return gunzipSync(compressed, { maxOutputLength: MAX_BYTES });
  if (codec === 2) return decompressSnappy(compressed);
  if (codec === 3) return decompressLz4(compressed);
  if (codec === 4) return zstdDecompressSync(compressed, { maxOutputLength: MAX_BYTES });
  throw new Error(`unknown compression codec ${codec}`);
}

/**
 * librdkafka writes one raw block. Java clients write xerial's frame: magic, two versions, then blocks with their
 * lengths.
 */
function decompressSnappy(compressed: Buffer): Buffer {
  const isFramed = compressed.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC);
  if (!isFramed) return snappyBlock(compressed, MAX_BYTES);
  const blocks: Buffer[] = [];
  let capacity = MAX_BYTES;
  for (const reader = new ByteReader(compressed, 16); reader.at < compressed.length;) {
    const block = snappyBlock(reader.bytes(), capacity);
    capacity -= block.length;
    blocks.push(block);
  }
  return Buffer.concat(blocks);
}

function snappyBlock(compressed: Buffer, maxBytes: number): Buffer {
  const { buffer, byteOffset, byteLength } = snappy.uncompress(compressed, maxBytes);
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** The library cannot bound the result, so the bounds of the frame's blocks are added up first. */
function decompressLz4(compressed: Buffer): Buffer {
  if (lz4Bound(compressed) > MAX_BYTES) throw new Error('lz4 frame may decompress to more than 64 MiB');
  return decompressFrameSync(compressed);
}

/**
 * Upper bound of a frame's decompressed bytes. LZ4 frame format 1.6: magic, FLG, BD, [content size], [dictionary],
 * header checksum, then blocks until a length of zero.
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
    // With the highest bit set, the block is not compressed. A compressed byte becomes at most 255 bytes.
    bound += bytes === length ? Math.min(maxBlockBytes, bytes * 255) : bytes;
    at += 4 + bytes + checksumBytes;
  }
  return bound;
}
