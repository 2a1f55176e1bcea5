import { MAX_TIME_MS } from '@webhooks/contracts';

/** Characters of a time: 36^10 ms end in the year 117,000, later than any time that an entry may have. */
const TIME_LENGTH = 10;

/** A time as text that sorts as the time does. Times before 1970 are 1970. */
export const timeText = (ms: number): string => Math.max(0, ms).toString(36).padStart(TIME_LENGTH, '0');

/**
 * Place of a delivery among those of its tenant, as one text that sorts as (`createdAt`, `deliveryId`) do: a page that
 * begins after a place is then one range of an index, without an `$or`.
 */
export const placeOf = (createdAt: number, deliveryId: string): string =>
  `${timeText(createdAt)}${deliveryId}`;

/** The time of a place, Unix milliseconds. */
export const timeOfPlace = (place: string): number => Number.parseInt(place.slice(0, TIME_LENGTH), 36);

/** Sorts before and after every place. */
export const FIRST_PLACE = '';
export const LAST_PLACE = '~';

/** The first text after a place. */
export const after = (place: string): string => `${place}!`;

const PLACE = /^[0-9a-z]{10}[a-z2-7]{52}$/;

export const isPlace = (text: string): boolean => PLACE.test(text) && timeOfPlace(text) <= MAX_TIME_MS;
