import { isUtcTime } from '@webhooks/contracts';
import type { UtcTime } from '@webhooks/contracts';
import type { Operation } from '@webhooks/http-api';
import { createAddressPolicy } from '@webhooks/outbound';

/** Where deliveries come from, as the operator says. */
export interface EgressAddress {
  /** Of IPv4 or IPv6, or a block such as `198.51.100.8/30`. */
  readonly address: string;
  /** Of what is announced; absent for what is in use. */
  readonly validFrom?: UtcTime;
}

/** A list such as `198.51.100.7,198.51.100.8/30@2026-12-01T00:00:00Z`; throws with the first that is none. */
export const parseEgressAddresses = (text: string): readonly EgressAddress[] =>
  text.split(',').map((entry) => {
    const [address = '', ...times] = entry.trim().split('@');
    createAddressPolicy({ deny: [address] });
    if (times.length === 0) return { address };
    const validFrom = times.join('@');
    if (!isUtcTime(validFrom)) throw new Error(`expected an RFC 3339 time in UTC behind '${address}@'`);
    return { address, validFrom };
  });

/** `GET /egress`: which addresses an integrator lets in. */
export const egressOperation = (data: readonly EgressAddress[]): Operation => ({
  method: 'GET',
  path: '/integration/v1/egress',
  scopes: ['webhook.read'],
  handle: () => Promise.resolve({ status: 200, body: { data, results: data.length } }),
});
