import { DELIVERY_POLICY_SCHEMA, type DeliveryPolicy } from './delivery-policy.js';
import { PATTERNS, compileCheck } from '../json/schema-compiler.js';
import { NOTIFICATION_KINDS, type NotificationKind, type UtcTime } from '../event/payment-event.js';
import { parseStrictJson } from '../json/strict-json.js';

/** A signing secret of a configuration. */
export interface SealedSecret {
  /** The sealed secret; see `sealSecret`. Its owner is the key of the record. */
  readonly sealed: string;
  /** Set on the previous secret of a rotation. After this time the secret no longer signs. */
  readonly expiresAt?: UtcTime;
}

/** Forms of an alert's body. `event`: the alert as JSON. `text`: `{"text": "…"}`, as chat programs read it. */
export const ALERT_FORMATS = ['event', 'text'] as const;
/** Languages of an alert's text (BCP 47). */
export const ALERT_LANGUAGES = ['pt-BR', 'en'] as const;

/** How an alert endpoint is alerted. */
export interface AlertSettings {
  readonly format: (typeof ALERT_FORMATS)[number];
  /** Language of the format `text`. */
  readonly language: (typeof ALERT_LANGUAGES)[number];
}

/** The value of a record on the compacted topic `webhooks.configurations`; key: `tenantId/ref`. */
export interface ConfigurationRecord {
  /** Format of the record; this code writes 1. */
  readonly v: number;
  readonly tenantId: string;
  readonly ref: string;
  /**
   * Rises with each change, from 1. A reader applies only a higher one. Never above the current Unix milliseconds: this
   * bound rises, so a later revision can replace any record. No revision could replace one at a fixed maximum.
   */
  readonly revision: number;
  readonly eventType: NotificationKind;
  readonly endpointUrl: string;
  readonly applicationId?: string;
  readonly enabled: boolean;
  readonly createdAt: UtcTime;
  readonly updatedAt: UtcTime;
  /** Signing secrets, the newest first, at most `MAX_SECRETS`. Empty or absent: deliveries are not signed. */
  readonly secrets?: readonly SealedSecret[];
  /** The delivery policy; absent: the worker's defaults. */
  readonly policy?: DeliveryPolicy;
  /** Set on an alert endpoint, whose kind is `ENDPOINT_ALERT`. */
  readonly alert?: AlertSettings;
}

/** The maximum number of secrets of a webhook that sign at the same time: the newest, and two earlier ones. */
export const MAX_SECRETS = 3;

/** Returns the key of a configuration's record. */
export const configurationKey = (tenantId: string, ref: string): string => `${tenantId}/${ref}`;

/**
 * Key of the mark, the one record of the topic that is no configuration. No tenant has this name. config-api writes the
 * mark when all configurations are on the topic. A topic without the mark is new, or was recreated and lacks webhooks.
 *
 * The value is a list of offsets, by partition: the positions that config-api had read. When a partition ends before
 * its offset, the mark belongs to an earlier topic and is ignored.
 */
export const COMPLETE_KEY = '/complete';

/** Whether a record is the mark, by its key. */
export const isCompleteMark = ({ key }: { readonly key: Uint8Array | null }): boolean =>
  String(key ?? '') === COMPLETE_KEY;

/** Reads the offsets of a mark, by partition. Undefined for another value. Throws for one that is no JSON. */
export function readCompleteMark(value: Uint8Array | null): readonly number[] | undefined {
  const read: unknown = JSON.parse(String(value));
  return Array.isArray(read) ? read.map(Number) : undefined;
}

const text = { type: 'string', minLength: 1, maxLength: 2048 } as const;

export const CONFIGURATION_RECORD_SCHEMA = {
  type: 'object',
  required: [
    'v',
    'tenantId',
    'ref',
    'revision',
    'eventType',
    'endpointUrl',
    'enabled',
    'createdAt',
    'updatedAt',
  ],
  properties: {
    // A later version does not change the known fields, so a worker that is one version behind can read the record.
    v: { type: 'integer', minimum: 1 },
    tenantId: { type: 'string', pattern: PATTERNS.tenantId },
    ref: { type: 'string', pattern: PATTERNS.ref },
    revision: { type: 'integer', minimum: 1 },
    eventType: { type: 'string', enum: NOTIFICATION_KINDS },
    endpointUrl: text,
    applicationId: { type: 'string', minLength: 1, maxLength: 128 },
    enabled: { type: 'boolean' },
    createdAt: { type: 'string', format: 'utc-date-time' },
    updatedAt: { type: 'string', format: 'utc-date-time' },
    secrets: {
      type: 'array',
      maxItems: MAX_SECRETS,
      items: {
        type: 'object',
        required: ['sealed'],
        properties: { sealed: text, expiresAt: { type: 'string', format: 'utc-date-time' } },
      },
    },
    policy: DELIVERY_POLICY_SCHEMA,
    alert: {
      type: 'object',
      required: ['format', 'language'],
      properties: {
        format: { type: 'string', enum: ALERT_FORMATS },
        language: { type: 'string', enum: ALERT_LANGUAGES },
      },
    },
  },
} as const;

const check = compileCheck<ConfigurationRecord>(CONFIGURATION_RECORD_SCHEMA);

/** The readable part of a record that a newer version wrote: the configuration's name, and whether it is enabled. */
export type ConfigurationSwitch = Pick<ConfigurationRecord, 'tenantId' | 'ref' | 'revision' | 'enabled'> & {
  readonly eventType?: unknown;
  readonly updatedAt?: unknown;
};

const { tenantId, ref, revision, enabled } = CONFIGURATION_RECORD_SCHEMA.properties;
const checkSwitch = compileCheck<ConfigurationSwitch>({
  type: 'object',
  required: ['tenantId', 'ref', 'revision', 'enabled'],
  properties: { tenantId, ref, revision, enabled },
});

const REVISION_TOO_HIGH = 'revision must be at most the time in milliseconds since 1970';

/**
 * Reads a record of the topic. For a value that is no configuration, returns the reason. Returns `known` too when the
 * value is a valid `ConfigurationSwitch`, so that a newer version can disable a webhook. Never throws.
 */
export function parseConfigurationRecord(
  value: Uint8Array,
):
  | { readonly ok: true; readonly configuration: ConfigurationRecord }
  | { readonly ok: false; readonly reason: string; readonly known?: ConfigurationSwitch } {
  const parsed = parseStrictJson(value);
  if (!parsed.ok) return { ok: false, reason: parsed.fault };
  const result = check(parsed.value);
  const known = result.ok ? result : checkSwitch(parsed.value);
  if (known.ok && known.value.revision > Date.now()) return { ok: false, reason: REVISION_TOO_HIGH };
  if (result.ok) return { ok: true, configuration: result.value };
  return {
    ok: false,
    ...(known.ok ? { known: known.value } : {}),
    reason: result.violations.map(({ property, reason }) => `${property} ${reason}`).join('; '),
  };
}
