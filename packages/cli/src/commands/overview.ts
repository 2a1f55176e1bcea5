import type { Overview, OverviewWebhook } from '@webhooks/client';
import type { Argv } from 'yargs';
import { table } from '../output.js';
import { showing } from '../session.js';

const COLUMNS = [
  ...['ref', 'eventType', 'state', 'since', 'cause', 'delivered', 'failed', 'undelivered', 'nextProbeAt'],
  'endpointUrl',
];

type Undelivered = NonNullable<OverviewWebhook['undelivered']>;

const undeliveredText = ({ events, amount, atLeast }: Undelivered): string =>
  `${events}${atLeast ? ' or more' : ''} (R$ ${amount})`;

const rowOf = ({ topFailure, lastHour, undelivered, ...webhook }: OverviewWebhook) => ({
  ...{ ...webhook, ...lastHour },
  cause: topFailure?.code ?? topFailure?.class,
  undelivered: undelivered && undeliveredText(undelivered),
});

const overviewText = ({ data }: Overview): string => table(data.map(rowOf), COLUMNS, 'no webhook');

export const addOverview = (cli: Argv): Argv =>
  cli.command(
    'overview',
    'Show how all webhooks do: their last hour, and what they did not get',
    {},
    showing((client) => client.overview(), overviewText),
  );
