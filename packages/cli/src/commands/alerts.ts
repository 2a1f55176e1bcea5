import type { Argv } from 'yargs';
import { positional, REF } from '../arguments.js';
import { card, present, table } from '../output.js';
import { showing } from '../session.js';

const INPUT = {
  'endpoint-url': { type: 'string', demandOption: true, describe: 'Address of the receiver: https://…' },
  format: { choices: ['event', 'text'], describe: 'text: for Slack, Google Chat and Mattermost' },
  language: { choices: ['pt-BR', 'en'], describe: 'Of the format text' },
  ref: REF,
} as const;

const withRef = positional('ref', 'The alert endpoint (webhooks alerts list)');

const addTo = (group: Argv): Argv =>
  group
    .demandCommand(1, 'list, create or delete?')
    .command(
      'list',
      'List alert endpoints',
      {},
      showing(
        async (client) => (await client.alertEndpoints()).data,
        (all) => table(all, ['ref', 'endpointUrl', 'format', 'language', 'hasSecret'], 'no alert endpoint'),
      ),
    )
    .command(
      'create',
      'Register an alert endpoint',
      INPUT,
      showing(
        (client, { endpointUrl, format, language, ref }) =>
          client.createAlertEndpoint({ endpointUrl, ...present({ format, language, ref }) }),
        card,
        ({ ref }) => `Next: webhooks rotate-secret ${ref}`,
      ),
    )
    .command(
      'delete <ref>',
      'End an alert endpoint',
      withRef,
      showing(async (client, { ref }) => {
        await client.deleteAlertEndpoint(ref);
        return { ref, ended: true };
      }),
    );

export const addAlerts = (cli: Argv): Argv =>
  cli.command('alerts', 'Endpoints that are told when a webhook fails', addTo);
