import { clientFor, generateSample, putInForce, readFeedLine } from '@webhooks/ledger';
import type { FedStack } from '@webhooks/ledger';
import { feedAndAccount } from '../run-demo.js';
import { callerVariables, envScript } from '../env-script.js';
import { showCommands } from '../show.js';
import { FILES } from './folders.js';
import { readClients } from './read-clients.js';
import { required } from './required.js';

// The demonstration in a container: it uses the public addresses, the topic, and the receiver's file.

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

async function main(): Promise<number> {
  const clients = readClients();
  const publicAddress = required('PUBLIC_ADDRESS');
  const addresses = {
    configApi: publicAddress,
    ingest: publicAddress,
    tokenEndpoint: `${required('TOKEN_ISSUER')}/token`,
    kafkaBrokers: required('KAFKA_BROKERS').split(','),
    clients,
  };
  const stack: FedStack = { description: () => addresses };
  const receiver = required('RECEIVER_ORIGIN');
  // Other events at each run: the workers drop an event that they settled a short time ago.
  const lines = generateSample(Number(required('EVENTS')), Date.now()).map((event) =>
    readFeedLine(JSON.stringify(event)),
  );
  const hooks = await putInForce(lines, {
    clientOf: (tenantId) => {
      const client = clients.find((candidate) => candidate.tenantId === tenantId);
      if (!client) throw new Error(`there is no client for the tenant ${tenantId}`);
      return clientFor(client, addresses);
    },
    urlOf: ({ path }) => `${receiver}${path}`,
  });
  const { closing, balanced } = await feedAndAccount(
    { receivers: { file: FILES.receipts }, hooks },
    { stack, lines, print },
  );
  const fromOutside = required('PUBLISHED_ADDRESS');
  const callers = {
    ...{ clients, configApi: fromOutside, ingest: fromOutside, queryApi: fromOutside },
    tokenEndpoint: required('PUBLISHED_TOKEN_ENDPOINT'),
  };
  showCommands(envScript(callerVariables(callers, receiver)), print);
  for (const line of closing) print(line);
  return balanced ? 0 : 1;
}

process.exit(await main());
