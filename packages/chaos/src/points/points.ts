import type { Place } from '../replace-once.js';

/** A moment on the way of an event or a change at which a process may die. */
export interface Point extends Place {
  /** As a target of the fault `kill-at-point`, in words that follow "dies". */
  readonly name: string;
  /** Whose moment it is. */
  readonly service: 'config-api' | 'ingest' | 'delivery-worker' | 'query-api';
  /** It is passed only while deliveries are sent again by a job. */
  readonly ofRedelivery?: true;
}

/** What `preload.ts` makes global: ends the process when the point is armed. */
const pass = (name: string): string => `globalThis.passPoint('${name}');`;

type At = Pick<Point, 'service' | 'ofRedelivery'> & { readonly file: string };

/** The call stands right before, or right behind, a text of the file. */
function point(name: string, at: At, text: { before: string } | { behind: string }): Point {
  const { service, file, ...more } = at;
  const path = `services/${service}/dist/src/${file}`;
  const about = { name, service, file: path, ...more };
  return 'before' in text
    ? { ...about, right: text.before, wrong: `${pass(name)} ${text.before}` }
    : { ...about, right: text.behind, wrong: `${text.behind} ${pass(name)}` };
}

const worker = (file: string): At => ({ service: 'delivery-worker', file });
const redelivery: At = {
  service: 'query-api',
  file: 'redelivery/run-redeliveries.js',
  ofRedelivery: true,
};

/** Every point, by the way of an event. */
export const POINTS: readonly [Point, ...Point[]] = [
  point(
    'between-database-and-topic',
    { service: 'config-api', file: 'change-configuration.js' },
    {
      behind: "case 'replaced':",
    },
  ),
  point(
    'between-topic-and-note',
    { service: 'config-api', file: 'publish-configuration.js' },
    {
      before: 'acknowledged.set(key, Math.max(configuration.revision,',
    },
  ),
  point(
    'before-accepting',
    { service: 'ingest', file: 'publish-event.js' },
    {
      before: "published.inc({ result: 'acknowledged' });",
    },
  ),
  point('before-sending', worker('attempt.js'), { before: 'return options.sender.post({' }),
  point('after-the-answer', worker('deliver.js'), { behind: 'end = endOf(outcome);' }),
  {
    ...point('after-the-retry', worker('settle.js'), {
      behind: 'await published;',
    }),
    wrong: `{ await published; if (settled.settlement.kind === 'retry') ${pass('after-the-retry')} }`,
  },
  {
    ...point('before-committing', worker('attempt-log.js'), {
      before: '.then(() => resolve(undefined), reject)',
    }),
    wrong: `.then(() => { ${pass('before-committing')} resolve(undefined); }, reject)`,
  },
  point(
    'after-projecting',
    { service: 'query-api', file: 'projection/batches.js' },
    {
      behind: 'await apply(items);',
    },
  ),
  point('after-a-page-is-sent', redelivery, { before: 'await storeFor().advance(job, owner, step);' }),
  {
    ...point('between-pages', redelivery, { before: 'const intervalMs = (tasks.length / ratePerSecond)' }),
    wrong: `if (step.position) ${pass('between-pages')} const intervalMs = (tasks.length / ratePerSecond)`,
  },
];
