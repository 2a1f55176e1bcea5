import { isUtcTime, MAX_TIME_MS, PATTERNS } from '@webhooks/contracts';
import { invalidRequest } from '@webhooks/http-api';
import type { ApiRequest } from '@webhooks/http-api';

/**
 * To the next whole millisecond: an entry's time has no smaller part, so both bounds mean the same then. Before 1970 is 1970
 * and beyond the year 9999 its last millisecond: no entry is there, and not every database knows such times.
 */
export function parseTime(text: string): Date | undefined {
  if (!isUtcTime(text)) return undefined;
  const isBroken = /\.\d{3}0*[1-9]/.test(text);
  return new Date(Math.min(Math.max(Date.parse(text) + Number(isBroken), 0), MAX_TIME_MS));
}

type WithParams = Pick<ApiRequest, 'params'>;

/** An id in a path; what cannot be one is refused with 422, whatever is to be done with it. */
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
