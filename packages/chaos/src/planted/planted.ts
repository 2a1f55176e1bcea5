import type { FindingKind } from '../checker/finding.js';

/** A bug that the suite has to find: one place of the build output, said otherwise. */
export interface Planted {
  readonly name: string;
  /** Below the root of the tree. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly right: string;
  readonly wrong: string;
  /** Of the run that has to find it. */
  readonly options: readonly string[];
  readonly expects: FindingKind;
}

export const PLANTED: readonly Planted[] = [
  {
    name: 'the retry publish is dropped',
    file: 'services/delivery-worker/dist/src/settle.js',
    right:
      'return publishWaiting(publish, nextTask(settled, settlement.dueAt), settlement.dueAt - Date.now());',
    wrong: 'return Promise.resolve();',
    options: ['--seed', '1', '--minutes', '0.2', '--faults', 'receiver-refuses'],
    expects: 'lost',
  },
];
