import type { ApiRequest } from '@webhooks/http-api';
import type { Logger } from '@webhooks/runtime';
import type { Change } from './change-configuration.js';
import { fingerprintOf } from './configuration.js';

export type AuditedAction = 'register' | 'update' | 'rotate-secret' | 'remove-secret';

/** Without a change: nobody knows whether the database made it. */
export type Audit = (action: AuditedAction, request: ApiRequest, change?: Change) => void;

/** One log line for every change that was made or may have been: who did what to which configuration, its fingerprint before and after. */
export const createAudit =
  (log: Logger): Audit =>
  (action, { identity: { clientId, tenantId }, requestId, params }, change) => {
    const who = { action, requestId, clientId, tenantId };
    if (change === undefined) return log.warn('audit', { ...who, ref: params['ref'], outcome: 'unknown' });
    const { before, after } = change;
    log.info('audit', {
      ...who,
      ref: after.ref,
      revision: after.revision,
      changed: before !== after,
      before: before === undefined ? null : fingerprintOf(before),
      after: fingerprintOf(after),
    });
  };
