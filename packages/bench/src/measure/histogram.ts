/** 2^11 equal steps of 1 µs, then 2^10 steps for each doubling: a value is kept to within 0.1 %. */
const LINEAR_BITS = 11;
const LINEAR = 2 ** LINEAR_BITS;
const STEPS = LINEAR / 2;
/** Up to 2^36 µs, 19 hours; longer values count as that. */
const MAX_BITS = 36;
const MAX_VALUE = 2 ** MAX_BITS - 1;
const BUCKETS = LINEAR + (MAX_BITS - LINEAR_BITS) * STEPS;

function bucketOf(micros: number): number {
  if (micros < LINEAR) return micros;
  const shift = Math.floor(Math.log2(micros)) - LINEAR_BITS + 1;
  return LINEAR + (shift - 1) * STEPS + Math.floor(micros / 2 ** shift) - STEPS;
}

/** The largest value that falls into a bucket. */
function upperEdge(bucket: number): number {
  if (bucket < LINEAR) return bucket;
  const shift = Math.floor((bucket - LINEAR) / STEPS) + 1;
  const step = ((bucket - LINEAR) % STEPS) + STEPS;
  return (step + 1) * 2 ** shift - 1;
}

/** Percentiles of one or more pooled histograms, in microseconds. */
export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Counts of times in whole microseconds. Percentiles are taken from pooled counts: those of parts cannot be averaged. */
export class Histogram {
  readonly #counts = new Float64Array(BUCKETS);
  #count = 0;
  #max = 0;

  /** A negative time counts as 0: the event was there before its acknowledgement. */
  record(micros: number): void {
    const value = Math.min(MAX_VALUE, Math.max(0, Math.round(micros)));
    const bucket = bucketOf(value);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#count += 1;
    if (value > this.#max) this.#max = value;
  }

  get count(): number {
    return this.#count;
  }

  /** Adds another one's counts to this one's. */
  pool(other: Histogram): this {
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      const more = other.#counts[bucket] ?? 0;
      if (more > 0) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + more;
    }
    this.#count += other.#count;
    this.#max = Math.max(this.#max, other.#max);
    return this;
  }

  /** Nearest rank: the smallest value that at least this share (0 … 1) of all values does not exceed. NaN when empty. */
  percentile(share: number): number {
    if (this.#count === 0) return NaN;
    const rank = Math.max(1, Math.ceil(share * this.#count));
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      seen += this.#counts[bucket] ?? 0;
      if (seen >= rank) return Math.min(upperEdge(bucket), this.#max);
    }
    return this.#max;
  }

  percentiles(): Percentiles {
    return {
      count: this.#count,
      p50: this.percentile(0.5),
      p90: this.percentile(0.9),
      p99: this.percentile(0.99),
      p999: this.percentile(0.999),
      max: this.#count === 0 ? NaN : this.#max,
    };
  }
}

export function poolAll(histograms: Iterable<Histogram>): Histogram {
  const pooled = new Histogram();
  for (const histogram of histograms) pooled.pool(histogram);
  return pooled;
}
