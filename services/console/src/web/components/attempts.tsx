import type { DeliveryAttempt } from '@webhooks/client';
import { causeOf } from '@webhooks/contracts/failure-causes';
import { useSpeech, type Speech } from '../language.js';
import { Table, type Column } from './table.js';

const attemptColumns = ({ texts, time, count, language }: Speech): readonly Column<DeliveryAttempt>[] => [
  { head: texts.attempt, cell: ({ attempt }) => count(attempt), isNumber: true },
  { head: texts.time, cell: ({ at }) => time(at) },
  { head: texts.result, cell: ({ result }) => texts[result === 'delivered' ? 'deliveredOne' : 'failedOne'] },
  { head: texts.response, cell: ({ status, code, error }) => status ?? code ?? error ?? '–' },
  { head: texts.duration, cell: ({ durationMs }) => `${count(durationMs)} ms`, isNumber: true },
  { head: texts.cause, cell: (made) => causeOf(made, language) ?? made.cause ?? '–' },
];

/** The attempts of a delivery: when, how long, what came, and what that means. */
export function Attempts({ attempts }: { readonly attempts: readonly DeliveryAttempt[] }) {
  const speech = useSpeech();
  return (
    <Table
      caption={speech.texts.attempts}
      columns={attemptColumns(speech)}
      rows={attempts}
      keyOf={({ cycle, attempt }) => `${cycle} ${attempt}`}
    />
  );
}
