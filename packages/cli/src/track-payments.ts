import { Counter, exponentialBuckets, Gauge, Histogram, type Registry } from 'prom-client';

/** What has to become of a payment. Each is timed from when its first post began. */
const LEGS = ['accepted', 'delivered', 'queryable'] as const;
type Leg = (typeof LEGS)[number];

interface Payment {
  readonly beganAt: number;
  readonly lacks: Set<Leg>;
}

/** A payment counts as lost after an hour. This also bounds how many are under way: 3,600 with one a second. */
const LOST_MS = 3_600_000;
/** A leg counts as missing after 10 s, as in the alert `CanaryMissing`: a restart of a worker takes 3 s, its takeover 9 s. */
const MISSING_MS = 10_000;
/** From a post on the machine itself (5 ms) to the second retry of a delivery (41 s). */
const BUCKETS = exponentialBuckets(0.005, 2, 14);

/** Registers the metrics. `missingMs`: the age of the oldest payment that lacks a leg; 0 when none lacks it. */
function createMetrics(registry: Registry, missingMs: (leg: Leg) => number) {
  const ofLeg = { registers: [registry], labelNames: ['leg'] };
  const legSeconds = new Histogram({
    ...{ ...ofLeg, buckets: BUCKETS },
    name: 'canary_leg_seconds',
    help: 'Time from the first post of a test payment to this leg',
  });
  new Gauge({
    ...ofLeg,
    name: 'canary_oldest_missing_seconds',
    help: 'Age of the oldest test payment that lacks this leg; 0 when none lacks it',
    collect() {
      for (const leg of LEGS) this.set({ leg }, missingMs(leg) / 1_000);
    },
  });
  const payments = new Counter({
    ...{ registers: [registry], labelNames: ['result'] },
    name: 'canary_payments_total',
    help: 'Test payments that had every leg, or still lacked one after an hour',
  });
  for (const result of ['complete', 'lost']) payments.inc({ result }, 0);
  return { legSeconds, payments };
}

export type Tracker = ReturnType<typeof trackPayments>;

/** Follows the payments under way, and exports what they lack. `now`: monotonic milliseconds. */
export function trackPayments(registry: Registry, now = () => performance.now()) {
  const underWay = new Map<string, Payment>(); // the oldest first
  const missing = new Set<Leg>();
  const oldestAge = (matches: (lacks: ReadonlySet<Leg>) => boolean): number => {
    const oldest = [...underWay.values()].find(({ lacks }) => matches(lacks));
    return oldest === undefined ? 0 : now() - oldest.beganAt;
  };
  const missingMs = (leg: Leg): number => oldestAge((lacks) => lacks.has(leg));
  const { legSeconds, payments } = createMetrics(registry, missingMs);
  return {
    /** Begins a payment. Only then are lost ones forgotten, so that the gauge rises on while no post succeeds. */
    begin: (id: string): void => {
      for (const [known, { beganAt }] of underWay) {
        if (now() - beganAt < LOST_MS) break;
        underWay.delete(known);
        payments.inc({ result: 'lost' });
      }
      underWay.set(id, { beganAt: now(), lacks: new Set(LEGS) });
    },
    /** Records that a payment has a leg, once. An unknown one is of the process before, or was lost. */
    reach: (id: string, leg: Leg): void => {
      const payment = underWay.get(id);
      if (payment?.lacks.delete(leg) !== true) return;
      legSeconds.observe({ leg }, (now() - payment.beganAt) / 1_000);
      if (payment.lacks.size > 0) return;
      underWay.delete(id);
      payments.inc({ result: 'complete' });
    },
    /** Age of the oldest payment that was delivered and is not queryable, in milliseconds; 0 without one. */
    unqueriedMs: (): number => oldestAge((lacks) => lacks.has('queryable') && !lacks.has('delivered')),
    /** Returns the legs that have begun to be missing since the last call, and those that are no longer missing. */
    changes: () => {
      const changed = LEGS.filter((leg) => missing.has(leg) !== missingMs(leg) > MISSING_MS);
      for (const leg of changed) if (!missing.delete(leg)) missing.add(leg);
      return changed.map((leg) => ({ leg, isMissing: missing.has(leg) }));
    },
  };
}
