const MIX = 0x5bd1_e995;

/** MurmurHash2 as Kafka's Java client has it (`Utils.murmur2`), signed 32 bits. */
export function murmur2(key: Buffer): number {
  const wholeBytes = key.length & ~3;
  let hash = 0x9747_b28c ^ key.length;
  for (let at = 0; at < wholeBytes; at += 4) {
    const word = Math.imul(key.readInt32LE(at), MIX);
    hash = Math.imul(hash, MIX) ^ Math.imul(word ^ (word >>> 24), MIX);
  }
  if (wholeBytes < key.length) {
    hash = Math.imul(hash ^ key.readUIntLE(wholeBytes, key.length - wholeBytes), MIX);
  }
  hash = Math.imul(hash ^ (hash >>> 13), MIX);
  return hash ^ (hash >>> 15);
}

/** The partition a key belongs to; every Kafka client that uses Java's default partitioner agrees. */
export function partitionOf(key: Buffer, partitions: number): number {
  return (murmur2(key) & 0x7fff_ffff) % partitions;
}
