import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const REQUIREMENT = 'confluent-kafka==2.16.1';
const FOLDER = join(tmpdir(), 'webhooks-test-confluent-kafka-2.16.1');

/** Whether Python's confluent-kafka (librdkafka) can be had here: a client that shares nothing with ours. */
async function isInstalled(): Promise<boolean> {
  try {
    if (!existsSync(FOLDER)) await install();
    return true;
  } catch (error) {
    process.stderr.write(`skipped: ${REQUIREMENT} could not be installed: ${String(error)}\n`);
    return false;
  }
}

/** `it`, or a skipped test where there is no foreign producer. */
export const itWithForeign: typeof it = (await isInstalled()) ? it : it.skip;

/** Runs a script with the foreign producer. */
export async function produceForeign(script: string, args: readonly string[]): Promise<void> {
  await run('python3', ['-c', script, ...args], {
    env: { ...process.env, PYTHONPATH: FOLDER },
    timeout: 60_000,
  });
}

async function install(): Promise<void> {
  const half = `${FOLDER}.${process.pid}`;
  await mkdir(half, { recursive: true });
  await run('python3', ['-m', 'pip', 'install', '--quiet', '--target', half, REQUIREMENT], {
    timeout: 120_000,
  });
  await rename(half, FOLDER).catch(() => rm(half, { recursive: true }));
}

/** argv: brokers, topic, compression, count, first number, bytes of each. Keys and values count up. */
export const PRODUCE = `
import sys
from confluent_kafka import Producer
brokers, topic, codec, count, first, size = sys.argv[1:7]
p = Producer({'bootstrap.servers': brokers, 'compression.type': codec, 'linger.ms': 50, 'enable.idempotence': True})
for n in range(int(first), int(first) + int(count)):
    p.produce(topic, key=str(n), value=(str(n) + ' ' + codec + ' ').ljust(int(size), 'x'), headers={'n': str(n)})
assert p.flush(30) == 0
`;

/** argv: brokers, topic, transactional id, then a word for each transaction: c5 commits five records, a3 aborts three. */
export const TRANSACTIONS = `
import sys
from confluent_kafka import Producer
brokers, topic, tid, *words = sys.argv[1:]
p = Producer({'bootstrap.servers': brokers, 'transactional.id': tid})
p.init_transactions(30)
n = 0
for word in words:
    p.begin_transaction()
    for _ in range(int(word[1:])):
        p.produce(topic, key=bytes([0, 0, 0, 0]), value='%s %s %d' % (tid, 'committed' if word[0] == 'c' else 'aborted', n))
        n += 1
    p.flush(30)
    p.commit_transaction(30) if word[0] == 'c' else p.abort_transaction(30)
`;
