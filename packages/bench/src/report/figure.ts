import type { SpanUsage } from '../measure/usage-span.js';

/** What a figure is held against. */
export interface Bar {
  readonly kind: 'at most' | 'at least';
  readonly value: number;
}

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly bar?: Bar;
  /** The closing lines show only the scenario's worst one of this name. */
  readonly worstOnly?: true;
}

export const atMost = (value: number): Bar => ({ kind: 'at most', value });
export const atLeast = (value: number): Bar => ({ kind: 'at least', value });

/** What one run has shown. A void run has none. */
export interface RunReport {
  readonly scenario: string;
  /** Which run of the scenario, in words. */
  readonly run: string;
  /** The ledger in one line. */
  readonly ledger?: string;
  readonly figures: readonly Figure[];
  /** By process, for each of `deliveries`; `each` names what else is counted there. */
  readonly usage?: {
    readonly deliveries: number;
    readonly each?: string;
    readonly processes: readonly SpanUsage[];
  };
}

export interface VoidReport {
  readonly scenario: string;
  readonly run: string;
  readonly why: string;
}

/** `met` or `missed`; undefined where there is no bar. A value that is no number misses. */
export function verdictOf({ value, bar }: Pick<Figure, 'value' | 'bar'>): 'met' | 'missed' | undefined {
  if (!bar) return undefined;
  return (bar.kind === 'at most' ? value <= bar.value : value >= bar.value) ? 'met' : 'missed';
}
