import type { DeliveryFilter } from '@webhooks/client';

export const EVENT_TYPES = ['PIX_DYNAMIC_PAID', 'PIX_STATIC', 'PIX_REVERSAL', 'PIX_OUT'] as const;
export const STATUSES = ['pending', 'delivered', 'dead', 'cancelled'] as const;
export const FILTERS = ['ref', 'eventType', 'status', 'eventId', 'endToEndId', 'txId', 'from', 'to'] as const;

/** Values that a filter can have. Anything else must not come from a link into a command that is copied. */
const VALUE = /^[\w.:+-]{1,64}$/;

/** Reads the filter of the address; what is empty or cannot be a value is left out. */
export function filterOf(parameters: URLSearchParams): DeliveryFilter {
  const given = FILTERS.map((name) => [name, parameters.get(name) ?? ''] as const);
  return Object.fromEntries(given.filter(([, value]) => VALUE.test(value)));
}

/** Returns the command that lists the same on a terminal. */
export const commandFor = (filter: DeliveryFilter): string =>
  [
    'webhooks deliveries list',
    ...Object.entries(filter).map(
      ([name, value]) =>
        `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} ${String(value)}`,
    ),
  ].join(' ');
