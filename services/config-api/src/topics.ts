import { TOPIC_TABLE } from '@webhooks/contracts';
import { operateTopics, readKafkaSettings } from '@webhooks/kafka';
import { readSettings, reportFaults } from '@webhooks/runtime';

// `node_modules/node/bin/node services/config-api/dist/src/topics.js plan` says how Kafka's topics differ from those that the services need;
// `apply` creates and extends them. It reads KAFKA_… and TOPICS_REPLICATION_FACTOR, and needs no other setting.

reportFaults();
const settings = readSettings(process.env, (reader) => readKafkaSettings(reader, 'topics'));
const [command] = process.argv.slice(2);
if (command !== 'plan' && command !== 'apply') throw new Error('the argument must be plan or apply');
process.exitCode = await operateTopics(settings, TOPIC_TABLE, command === 'plan');
