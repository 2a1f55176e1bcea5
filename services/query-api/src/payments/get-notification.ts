import { AppError } from '@webhooks/http-api';
import type { Operation } from '@webhooks/http-api';
import { omitUndefined } from '../omit-undefined.js';
import { readEventId } from '../request-parameters.js';
import { bodyOf } from './event-store.js';
import type { EventRow } from './event-store.js';

export interface GetNotificationPorts {
  /** Finds an event of this tenant. Waits for the projection before a miss. */
  readonly findEvent: (tenantId: string, eventId: string) => Promise<EventRow | undefined>;
  /** How long notifications are stored, in milliseconds. */
  readonly retentionMs: number;
}

/**
 * The operation that shows one notification: the exact text that is posted, and when its event was appended. Throws 404
 * for an unknown event, and for one that is no longer stored.
 */
export const createNotificationOperation = ({ findEvent, retentionMs }: GetNotificationPorts): Operation => ({
  method: 'GET',
  path: '/integration/v1/notifications/:eventId',
  scopes: ['event.read'],
  handle: async (request) => {
    const id = readEventId(request);
    const row = await findEvent(request.identity.tenantId, id);
    const body = row && bodyOf(row, retentionMs);
    if (!body) throw new AppError('not-found', 'there is no notification with this id, or no longer');
    const receivedAt = row.appendedAt?.toISOString();
    const { eventType } = row;
    return { status: 200, body: { id, eventType, body: body.toString(), ...omitUndefined({ receivedAt }) } };
  },
});
