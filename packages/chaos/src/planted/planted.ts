import type { FindingKind } from '../checker/finding.js';
import type { Place } from '../replace-once.js';

/** A bug that the suite has to find: a place or two of the build output, said otherwise. No two are in one file. */
export interface Planted {
  /** As on the command line. */
  readonly name: string;
  /** What is wrong then. */
  readonly about: string;
  readonly places: readonly Place[];
  /** Of the run that has to find it. */
  readonly options: readonly string[];
  readonly expects: FindingKind;
}

const WORKER = 'services/delivery-worker/dist/src';
const CONFIG_API = 'services/config-api/dist/src';
const INGEST = 'services/ingest/dist/src';
const KAFKA = 'packages/kafka/dist/src';

export const PLANTED: readonly Planted[] = [
  {
    name: 'retry-dropped',
    about: 'the retry publish is dropped',
    places: [
      {
        file: `${WORKER}/settle.js`,
        right:
          'return publishWaiting(publish, nextTask(settled, settlement.dueAt), settlement.dueAt - Date.now());',
        wrong: 'return Promise.resolve();',
      },
    ],
    options: ['--seed', '1', '--minutes', '0.2', '--faults', 'receiver-refuses'],
    expects: 'lost',
  },
  {
    name: 'committed-early',
    about: 'offsets are committed as soon as their records were handed out',
    places: [
      {
        file: `${KAFKA}/lane.js`,
        right: 'return this.#inFlight.head?.value.offset ?? this.#buffer.position;',
        wrong: 'return this.#buffer.position;',
      },
    ],
    options: ['--seed', '1', '--minutes', '0.5', '--faults', 'receiver-hangs,kill-at-point'],
    expects: 'lost',
  },
  {
    name: 'older-revision-late',
    about:
      'config-api publishes the older revision three seconds after the newer one, and a worker takes what comes last',
    places: [
      {
        file: `${CONFIG_API}/operations.js`,
        right: 'return publish(change.after);',
        wrong:
          'if (change.before) setTimeout(() => publish({ ...change.before, publishedRevision: 0 }), 3_000); return publish(change.after);',
      },
      {
        file: `${CONFIG_API}/publish-configuration.js`,
        right: 'if ((acknowledged.get(key) ?? 0) >= revision) {',
        wrong: 'if ((acknowledged.get(key) ?? 0) === revision) {',
      },
      {
        file: `${WORKER}/configuration-table.js`,
        right: 'if (known && known.revision >= next.revision)',
        wrong: 'if (known && known.revision === next.revision)',
      },
    ],
    options: ['--seed', '1', '--minutes', '0.5', '--faults', 'receiver-flaps'],
    expects: 'not-in-force',
  },
  {
    name: 'accepted-early',
    about: 'ingest answers 202 before Kafka has the event',
    places: [
      {
        file: `${INGEST}/publish-event.js`,
        right: 'await sink.send(record, { deadlineMs: timeoutMs });',
        wrong: 'sink.send(record, { deadlineMs: timeoutMs }).catch(() => undefined);',
      },
    ],
    options: ['--seed', '24', '--minutes', '1', '--faults', 'cut-network'],
    expects: 'lost',
  },
  {
    name: 'heap-lost',
    about: 'what waits in memory counts as handled when its partition goes to another member',
    places: [{ file: `${KAFKA}/delayed-source.js`, right: 'task.abandon();', wrong: 'task.finish();' }],
    options: ['--seed', '5', '--minutes', '1', '--faults', 'rebalance,receiver-refuses'],
    expects: 'lost',
  },
  {
    name: 'stale-picture',
    about: 'a retry follows the configuration that its delivery was made with, not the one in force',
    places: [
      {
        file: `${WORKER}/current-configuration.js`,
        right:
          'const configuration = picture.find(task.tenantId, task.ref);\n    if (knows(configuration, task) && picture.isFresh())',
        wrong:
          'const made = (globalThis.madeWith ??= new Map());\n' +
          '    const configuration = made.get(task.deliveryId) ?? picture.find(task.tenantId, task.ref);\n' +
          '    made.set(task.deliveryId, configuration);\n' +
          '    if (knows(configuration, task) && picture.isFresh())',
      },
    ],
    options: ['--seed', '1', '--minutes', '0.5', '--faults', 'receiver-flaps'],
    expects: 'not-in-force',
  },
  {
    name: 'posted-twice',
    about: 'every notification is posted twice',
    places: [
      {
        file: `${WORKER}/deliver.js`,
        right: 'toOutcome(await ports.attempt(task, admission.configuration))',
        wrong:
          'toOutcome((await ports.attempt(task, admission.configuration), await ports.attempt(task, admission.configuration)))',
      },
    ],
    options: ['--seed', '1', '--minutes', '0.2', '--faults', 'receiver-refuses'],
    expects: 'unexplained-repeat',
  },
];
