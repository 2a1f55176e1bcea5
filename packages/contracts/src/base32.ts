const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** RFC 4648 §6 base32 in lower case, without padding: 32 bytes become 52 characters. A character (latin1) is a byte. */
export function base32(bytes: string): string {
  let text = '';
  let buffered = 0;
  let bits = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    buffered = ((buffered << 8) | bytes.charCodeAt(at)) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET.charAt((buffered >> bits) & 31);
    }
  }
  return bits === 0 ? text : text + ALPHABET.charAt((buffered << (5 - bits)) & 31);
}
