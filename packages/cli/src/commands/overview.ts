import type { OverviewWebhook } from '@webhooks/client';
import type { Argv } from 'yargs';
import { sumText, table } from '../output.js';
import { showing } from '../session.js';

const COLUMNS = 'ref eventType state since cause delivered failed undelivered nextProbeAt endpointUrl'.split(
  ' ',
);

const rowOf = ({ topFailure, lastHour, undelivered, ...webhook }: OverviewWebhook) => ({
  ...{ ...webhook, ...lastHour },
  cause: topFailure?.code ?? topFailure?.class,
  undelivered: undelivered && sumText(undelivered) + (undelivered.atLeast ? ' or more' : ''),
});

export const addOverview = (cli: Argv): Argv =>
  cli.command(
    'overview',
    'Show how all webhooks do: their last hour, and what they did not get',
    {},
    showing(
      (client) => client.overview(),
      ({ data }) => table(data.map(rowOf), COLUMNS, 'no webhook'),
    ),
  );
