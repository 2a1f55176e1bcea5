import { isUtcTime, MAX_TIME_MS, PATTERNS } from '@webhooks/contracts';
import { invalidRequest } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';

/**
 * Rounds up to a whole millisecond, as entries have no smaller part. Times before 1970 become 1970, and those beyond
 * the year 9999 its last millisecond: no entry lies there, and not every database takes such times.
 */
export function parseTime(text: string): Date | undefined {
  if (!isUtcTime(text)) return undefined;
  const isBroken = /\.\d{3}0*[1-9]/.test(text);
  return new Date(Math.min(Math.max(Date.parse(text) + Number(isBroken), 0), MAX_TIME_MS));
}

type WithParams = Pick<ApiRequest, 'params'>;

/** Reads an id from a path. Throws 422 when it is malformed. */
const readId =
  (property: string, pattern: RegExp, expected: string) =>
  ({ params }: WithParams): string => {
    const id = params[property] ?? '';
    if (!pattern.test(id)) throw invalidRequest([{ property, reason: expected }]);
    return id;
  };

export const readDeliveryId = readId(
  'deliveryId',
  /^[a-z2-7]{52}$/u,
  'must be 52 characters of base32 in lower case',
);

export const readTxId = readId(
  'txId',
  new RegExp(PATTERNS.dynamicTxId, 'u'),
  'must be 26 to 35 letters and digits',
);

export const UUID = new RegExp(PATTERNS.ref, 'u');
export const readRedeliveryId = readId('id', UUID, 'must be a UUID in lower case');
