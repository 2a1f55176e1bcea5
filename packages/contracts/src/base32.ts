const ALPHABET = Buffer.from('abcdefghijklmnopqrstuvwxyz234567', 'latin1');
/** 1,280 bytes of input; longer ones get room of their own. */
const SHARED = Buffer.alloc(2_048);

const charactersOf = (bytes: number): number => Math.ceil((bytes * 8) / 5);

/**
 * RFC 4648 §6 base32 in lower case, without padding: 32 bytes become 52 characters. A character (latin1) is a byte.
 * Written to a buffer first: a text put together character by character was 1.6 KB of small strings for each delivery.
 */
export function base32(bytes: string): string {
  const length = charactersOf(bytes.length);
  const text = length <= SHARED.length ? SHARED : Buffer.alloc(length);
  let to = 0;
  let buffered = 0;
  let bits = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    buffered = ((buffered << 8) | bytes.charCodeAt(at)) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text[to++] = ALPHABET[(buffered >> bits) & 31] ?? 0;
    }
  }
  if (bits > 0) text[to] = ALPHABET[(buffered << (5 - bits)) & 31] ?? 0;
  return text.toString('latin1', 0, length);
}
