import type { Totals } from '@webhooks/testkit/account';

/** A run without figures: its ledger does not balance, or it could not be finished. The message says why. */
export class VoidRun extends Error {
  override readonly name = 'VoidRun';
}

/** Why a run has no figures; undefined when its ledger balances. `waiting`: pairs that were found waiting in Kafka. */
export function voidReason({ accepted, delivered, strangers }: Totals, waiting = 0): string | undefined {
  if (accepted === 0) return 'nothing was accepted';
  if (strangers > 0) return `${strangers} arrivals were owed to nobody`;
  const missing = accepted - delivered - waiting;
  if (missing > 0) return `${missing} of ${accepted} deliveries are missing`;
  return missing < 0 ? `${-missing} deliveries are both delivered and waiting` : undefined;
}
