import { print, registerWebhooksForEvents, readFeedLine } from '@webhooks/testkit/account';
import type { FedStack } from '@webhooks/testkit/account';
import { generateSample } from '../generate-sample.js';
import { callerVariables, envScript } from '../env-script.js';
import { feedAndAccount } from '../run-demo.js';
import { showCommands } from '../show.js';
import { FILES, readClients, required } from './environment.js';

// The demonstration in a container: it uses the public addresses, the topic, and the receiver's file.

const apisAt = (address: string, tokenEndpoint: string): FedStack => ({
  configApi: address,
  ingest: address,
  queryApi: address,
  tokenEndpoint,
  kafkaBrokers: required('KAFKA_BROKERS').split(','),
  clients: readClients(),
});

const stack = apisAt(required('PUBLIC_ADDRESS'), `${required('TOKEN_ISSUER')}/token`);
const receiver = required('RECEIVER_ORIGIN');
// A new seed for each run, because workers drop an event that they settled a short time ago.
const events = generateSample(Number(required('EVENTS')), Date.now());
const lines = events.map((event) => readFeedLine(JSON.stringify(event)));
const hooks = await registerWebhooksForEvents(events, stack, receiver);
const { closing, balanced } = await feedAndAccount({ file: FILES.receipts, hooks }, stack, lines);
const published = apisAt(required('PUBLISHED_ADDRESS'), required('PUBLISHED_TOKEN_ENDPOINT'));
showCommands(envScript(callerVariables(published, receiver)));
for (const line of closing) print(line);
process.exit(balanced ? 0 : 1);
