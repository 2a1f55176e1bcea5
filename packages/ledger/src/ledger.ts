import type { PaymentEvent } from '@webhooks/contracts';
import type { Hook } from './hooks.js';
import type { Receipt } from './receipts.js';

/** What one endpoint had to receive and what it received. */
export interface HookAccount {
  readonly hook: Hook;
  expected: number;
  delivered: number;
  duplicates: number;
  /** Arrivals that it did not answer with 2xx. */
  refused: number;
  /** Milliseconds between a refused arrival and the next one of the same event. */
  readonly retryWaits: number[];
}

interface Pair {
  account: HookAccount;
  deliveries: number;
  refusedAt?: number;
}

const pairKey = (eventId: string, path: string): string => `${eventId} ${path}`;

/**
 * Compares acknowledged events with what the receivers recorded. A pair is one (event id, configuration): expected
 * once however often the event was accepted, delivered when a 2xx was given, a duplicate for every further 2xx.
 */
export class Ledger {
  readonly accounts: readonly HookAccount[];
  unmatched = 0;
  private readonly pairs = new Map<string, Pair>();
  private readonly byRoute: ReadonlyMap<string, readonly HookAccount[]>;

  constructor(hooks: readonly Hook[]) {
    this.accounts = hooks.map((hook) => ({
      hook,
      expected: 0,
      delivered: 0,
      duplicates: 0,
      refused: 0,
      retryWaits: [],
    }));
    this.byRoute = Map.groupBy(this.accounts, ({ hook }) => `${hook.tenantId} ${hook.eventType}`);
  }

  /** Notes that an event was acknowledged. Call it for all events before the first receipt is read. */
  expect(event: PaymentEvent): void {
    const accounts = this.byRoute.get(`${event.tenantId} ${event.eventType}`) ?? [];
    if (accounts.length === 0) this.unmatched += 1;
    for (const account of accounts) {
      const key = pairKey(event.id, account.hook.path);
      if (this.pairs.has(key)) continue;
      this.pairs.set(key, { account, deliveries: 0 });
      account.expected += 1;
    }
  }

  /** Notes one arrival from the receiver's file. Returns false for an arrival that no endpoint here expects. */
  note(receipt: Receipt): boolean {
    const pair = this.pairs.get(pairKey(receipt.id, receipt.path));
    if (!pair) return false;
    const { account } = pair;
    if (pair.refusedAt !== undefined) account.retryWaits.push(receipt.receivedAt - pair.refusedAt);
    delete pair.refusedAt;
    if (receipt.status < 200 || receipt.status > 299) {
      account.refused += 1;
      pair.refusedAt = receipt.receivedAt;
      return true;
    }
    pair.deliveries += 1;
    if (pair.deliveries === 1) account.delivered += 1;
    else account.duplicates += 1;
    return true;
  }

  totals(): { accepted: number; delivered: number; duplicates: number; lost: number } {
    const sum = (of: 'expected' | 'delivered' | 'duplicates'): number =>
      this.accounts.reduce((total, account) => total + account[of], 0);
    const [accepted, delivered] = [sum('expected'), sum('delivered')];
    return { accepted, delivered, duplicates: sum('duplicates'), lost: accepted - delivered };
  }
}
