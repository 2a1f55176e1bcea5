import type { Stack } from '@webhooks/stack';
import type { ReceiverProcess } from './receiver.js';

/** What a scenario measures with. */
export interface Rig {
  readonly stack: Stack;
  readonly receiver: ReceiverProcess;
  /** How many events or posts; a scenario may have a default of its own. */
  readonly count: number | undefined;
  readonly print: (line: string) => void;
}

/** One row of the report. */
export interface Figure {
  readonly scenario: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

export type Scenario = (rig: Rig) => Promise<readonly Figure[]>;
