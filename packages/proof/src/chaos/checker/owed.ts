import { IN_FORCE_MS } from '@webhooks/testkit/account';
import { isMade } from '../generator/changes.js';
import type { Change } from '../generator/changes.js';
import type { Delivery } from './case-file.js';

/**
 * What the service promised for a delivery. `owed`: it has to be delivered, or wait, or be dead. `may-end`: its
 * configuration was disabled since, so that it may also be cancelled, or never begun. `nothing`: it was neither accepted nor
 * does it stand on the topic, or no configuration was in force for sure.
 *
 * An event that stands on the topic without an acknowledgement is owed like any other: its sender will ask again or has
 * given up, and the service cannot tell which.
 */
export type Promised = 'owed' | 'may-end' | 'nothing';

/** Whether it requests that nothing be delivered any more. */
export const isDisabling = ({ requested }: Change): boolean => requested.what === 'disable';

/** Changes of whether a configuration is enabled, by ref, oldest first. */
export type Toggles = ReadonlyMap<string, readonly Change[]>;

export const findToggles = (changes: readonly Change[]): Toggles =>
  Map.groupBy(
    changes.filter(({ requested }) => requested.what === 'disable' || requested.what === 'enable'),
    ({ ref }) => ref,
  );

/** Whether an enabling was surely in force when the event was sent, and no disabling was requested in between. */
function wasEnabled(toggles: readonly Change[], sentAt: number): boolean {
  const before = toggles.filter(({ requestedAt }) => requestedAt <= sentAt);
  const last = before.at(-1);
  if (!last) return true; // as it was registered
  if (isDisabling(last)) return false;
  return isMade(last) && last.respondedAt + IN_FORCE_MS <= sentAt;
}

export function promisedFor(
  { sent, configuration, copies }: Pick<Delivery, 'sent' | 'configuration' | 'copies'>,
  toggles: Toggles,
): Promised {
  if (sent.acceptedAt === undefined && copies.length === 0) return 'nothing';
  const own = toggles.get(configuration.ref) ?? [];
  if (!wasEnabled(own, sent.sentAt)) return 'nothing';
  return own.some((change) => isDisabling(change) && change.requestedAt > sent.sentAt) ? 'may-end' : 'owed';
}
