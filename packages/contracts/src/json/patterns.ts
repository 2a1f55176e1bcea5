/** Patterns that several schemas share, as JSON Schema `pattern` texts (ECMA-262, matched with the `u` flag). */
export const PATTERNS = {
  eventId: '^[A-Za-z0-9_-]{1,64}$',
  /** No `/`: the key of a configuration is `tenantId/ref`. */
  tenantId: '^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$',
  /** A UUID in its canonical form, in lower case, so that a ref has one spelling (RFC 9562 §4). */
  ref: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  /** As a caller may write it: in any letter case. */
  givenRef: '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$',
  dynamicTxId: '^[a-zA-Z0-9]{26,35}$',
  anyTxId: '^[a-zA-Z0-9]{1,35}$',
  staticTxId: '^[a-zA-Z0-9]{1,25}$',
  endToEndId: '^[a-zA-Z0-9]{32}$',
  reversalId: '^[a-zA-Z0-9]{1,35}$',
  paymentId: '^[a-zA-Z0-9]{1,35}$',
  money: '^\\d{1,10}\\.\\d{2}$',
  /** A code such as `MD06`; the alphabet leaves no room for free text (LGPD). */
  reasonCode: '^[A-Za-z0-9_-]{1,35}$',
  /** `0`, or `r` and the id of a redelivery. */
  cycle: '^(0|r[\\x21-\\x7e]{1,255})$',
  utcTime:
    '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?Z$',
} as const;

/** The last millisecond that RFC 3339 can tell (Unix time). */
export const MAX_TIME_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Number of an attempt, at most: far above what a schedule has (51). */
export const MAX_ATTEMPT = 1_000_000;
/** Partition of a topic, at most (Kafka counts in 31 bits). */
export const MAX_PARTITION = 2 ** 31;

const tenant = new RegExp(PATTERNS.tenantId, 'u');
export const isTenantId = (value: unknown): value is string =>
  typeof value === 'string' && tenant.test(value);
