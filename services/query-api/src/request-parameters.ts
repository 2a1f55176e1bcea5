import { isUtcTime, MAX_TIME_MS, PATTERNS } from '@webhooks/contracts';
import { invalidRequest } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';

/**
 * Parses an RFC 3339 time in UTC; undefined for other text. Rounds up to a whole millisecond, the resolution of
 * entries. Times before 1970 become 1970. Times after the year 9999 become its last millisecond: there are no later
 * entries, and not every database accepts such times.
 */
export function parseTime(text: string): Date | undefined {
  if (!isUtcTime(text)) return undefined;
  const hasMicroseconds = /\.\d{3}0*[1-9]/.test(text);
  return new Date(Math.min(Math.max(Date.parse(text) + Number(hasMicroseconds), 0), MAX_TIME_MS));
}

/** Returns a function that reads an id from a path. It throws 422 for a malformed id. */
function readId(property: string, pattern: string, expected: string) {
  const form = new RegExp(pattern, 'u');
  return ({ params }: Pick<ApiRequest, 'params'>): string => {
    const id = params[property] ?? '';
    if (!form.test(id)) throw invalidRequest([{ property, reason: expected }]);
    return id;
  };
}

const BASE32 = '^[a-z2-7]{52}$';
export const readDeliveryId = readId('deliveryId', BASE32, 'must be 52 characters of base32 in lower case');
export const readTxId = readId('txId', PATTERNS.dynamicTxId, 'must be 26 to 35 letters and digits');
export const readEventId = readId('eventId', PATTERNS.eventId, 'must be 1 to 64 letters, digits, _ or -');
export const readRedeliveryId = readId('id', PATTERNS.ref, 'must be a UUID in lower case');
