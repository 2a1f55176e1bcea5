import { headerText, MAX_EVENT_BYTES, TOPICS } from '@webhooks/contracts';
import { createKafka, openSink, readKafkaSettings, readToEnd, type KafkaRecord } from '@webhooks/kafka';
import { readSettings, reportFaults } from '@webhooks/runtime';

// `node_modules/node/bin/node services/delivery-worker/dist/src/rejected.js list` writes a line of JSON for each rejected record that was not
// returned yet, without its content; `return` appends those records to payments.events again. A consumer group remembers
// which: `return` may be ended at any time and run again. It reads KAFKA_… and GROUP_PREFIX, and needs the rights to
// read payments.events.rejected and to write payments.events.

/** Records in flight at once. Few are rejected, and each may have 15 MiB. The sink takes 64 MiB. */
const WINDOW = { maxInFlight: 100, maxInFlightBytes: 32 * 1_048_576 };

reportFaults();
const settings = readSettings(process.env, (reader) => ({
  kafka: readKafkaSettings(reader, 'rejected'),
  groupPrefix: reader.text('GROUP_PREFIX', 'delivery-worker'),
}));
const [command] = process.argv.slice(2);
if (command !== 'list' && command !== 'return') throw new Error('the argument must be list or return');

/** What an operator needs to decide; `isCut`: only the beginning of the record was kept, so it cannot be returned. */
function describe({ partition, offset, timestamp, headers, value }: KafkaRecord) {
  const text = (name: string) => headerText(headers, name);
  return {
    ...{ partition, offset, rejectedAt: new Date(timestamp).toISOString() },
    ...{ reason: text('reject-reason'), detail: text('reject-detail') },
    origin: `${text('origin-topic')}/${text('origin-partition')}/${text('origin-offset')}`,
    ...{ bytes: value?.byteLength ?? 0, isCut: text('original-size') !== undefined },
  };
}

const kafka = createKafka(settings.kafka);
const sink = command === 'return' ? await openSink({ kafka }) : undefined;
let [seen, returned] = [0, 0];
async function handle(record: KafkaRecord): Promise<void> {
  const described = describe(record);
  if (!sink) process.stdout.write(`${JSON.stringify(described)}\n`);
  else if (!described.isCut && described.bytes <= MAX_EVENT_BYTES) {
    await sink.send({ topic: TOPICS.events, key: record.key, value: record.value });
    returned += 1;
  }
  // Last: after a fault the record comes again.
  seen += 1;
}
try {
  const group = { groupId: `${settings.groupPrefix}.rejected`, commits: command === 'return' };
  await readToEnd({ ...group, kafka, topic: TOPICS.rejected, window: WINDOW, handle });
} finally {
  await sink?.close();
  await kafka.close();
}
if (command === 'return')
  process.stdout.write(`${returned} records returned, ${seen - returned} are too large\n`);
