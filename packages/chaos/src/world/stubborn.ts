import { createHash } from 'node:crypto';

/** One event of so many is refused for ever by the stubborn receiver; the others keep its breaker closed. */
const ONE_OF = 8;

/** Whether the stubborn receiver refuses this event, whenever it comes. */
export const isStubborn = (eventId: string): boolean =>
  createHash('sha256').update(eventId).digest().readUInt16BE() % ONE_OF === 0;
