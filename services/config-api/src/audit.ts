import type { ApiRequest } from '@webhooks/http-api';
import type { Logger } from '@webhooks/runtime';
import type { Change } from './change-configuration.js';
import { fingerprintOf } from './configuration.js';

export type AuditedAction = 'register' | 'update' | 'rotate-secret' | 'remove-secret';

export type Audit = (action: AuditedAction, request: ApiRequest, change: Change) => void;

/** One log line for every successful change: who did what to which configuration, and its fingerprint before and after. */
export const createAudit =
  (log: Logger): Audit =>
  (action, { identity, requestId }, { before, after }) =>
    log.info('audit', {
      action,
      requestId,
      clientId: identity.clientId,
      tenantId: identity.tenantId,
      ref: after.ref,
      revision: after.revision,
      changed: before !== after,
      before: before === undefined ? null : fingerprintOf(before),
      after: fingerprintOf(after),
    });
