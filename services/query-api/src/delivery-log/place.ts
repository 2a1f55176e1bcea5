import { MAX_TIME_MS } from '@webhooks/contracts';

/** Characters of the latest time that an entry may have: 10. */
const TIME_LENGTH = MAX_TIME_MS.toString(36).length;

/** A time as text that sorts as the time does. Times before 1970 are 1970. */
export const timeText = (ms: number): string => Math.max(0, ms).toString(36).padStart(TIME_LENGTH, '0');

/**
 * Place of a delivery among those of its tenant, as one text that sorts as (`createdAt`, `deliveryId`) do. It never changes
 * with the status, so pages neither skip nor repeat what changes between them; and a page that begins behind it is
 * one range of an index, without an `$or`.
 */
export const placeOf = (createdAt: number, deliveryId: string): string =>
  `${timeText(createdAt)}${deliveryId}`;

const PLACE = /^[0-9a-z]{10}[a-z2-7]{52}$/;

export const isPlace = (text: string): boolean =>
  PLACE.test(text) && Number.parseInt(text.slice(0, TIME_LENGTH), 36) <= MAX_TIME_MS;
