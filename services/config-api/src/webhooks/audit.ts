import type { ApiRequest } from '@webhooks/http-api';
import type { Logger } from '@webhooks/runtime';
import type { Change } from './change-configuration.js';
import { fingerprintOf } from './configuration.js';
import type { WebhookInput } from './webhook-input.js';

/** A change that a caller requests. */
export interface AuditedRequest {
  readonly action:
    'register' | 'update' | 'rotate-secret' | 'remove-secret' | 'replace-policy' | 'remove-policy';
  readonly request: ApiRequest;
  /** Absent when the path names the webhook. */
  readonly input?: WebhookInput;
}

/** Without a change: a write failed, and nobody knows whether the database made it. */
export type Audit = (requested: AuditedRequest, change?: Change) => void;

/**
 * One log line for every change that was made or may have been: who did what to which configuration, its fingerprint
 * before and after. When nobody knows, what the caller named.
 */
export const createAudit =
  (log: Logger): Audit =>
  ({ action, request, input }, change) => {
    const { clientId, tenantId } = request.identity;
    const who = { action, requestId: request.requestId, clientId, tenantId };
    if (change === undefined) {
      const ref = input?.ref ?? request.params['ref'];
      const named = { ref, eventType: input?.eventType, applicationId: input?.applicationId };
      return log.warn('audit', { ...who, ...named, outcome: 'unknown' });
    }
    const before = change.before === undefined ? null : fingerprintOf(change.before);
    const after = fingerprintOf(change.after);
    const { ref, revision } = change.after;
    log.info('audit', { ...who, ref, revision, changed: before !== after, before, after });
  };
