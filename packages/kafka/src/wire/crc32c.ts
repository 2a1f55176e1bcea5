// CRC-32C (Castagnoli, RFC 3720 appendix B.4), four bytes a step: zlib.crc32 has another polynomial.
const POLYNOMIAL = 0x82f6_3b78;
const STEPS = 4;
const TABLE = new Uint32Array(STEPS * 256);

function entry(index: number): number {
  return TABLE[index] ?? 0;
}

function oneByte(byte: number): number {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  return crc;
}

for (let byte = 0; byte < 256; byte += 1) TABLE[byte] = oneByte(byte);
for (let index = 256; index < TABLE.length; index += 1) {
  const before = entry(index - 256);
  TABLE[index] = (before >>> 8) ^ entry(before & 0xff);
}

export function crc32c(bytes: Buffer): number {
  let crc = 0xffff_ffff;
  let at = 0;
  for (; at + STEPS <= bytes.length; at += STEPS) {
    const word = crc ^ bytes.readUInt32LE(at);
    crc =
      entry(768 + (word & 0xff)) ^
      entry(512 + ((word >>> 8) & 0xff)) ^
      entry(256 + ((word >>> 16) & 0xff)) ^
      entry(word >>> 24);
  }
  for (; at < bytes.length; at += 1) crc = entry((crc ^ bytes.readUInt8(at)) & 0xff) ^ (crc >>> 8);
  return (crc ^ 0xffff_ffff) >>> 0;
}
