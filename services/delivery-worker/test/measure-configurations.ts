/**
 * Measures how a worker process loads the configurations: `node services/delivery-worker/dist/test/measure-configurations.js
 * [count=1000000] [of each tenant=1000] [node options…]`. Fills a Kafka of its own with records as config-api writes them (a
 * quarter of them signed), starts the worker on them, and prints its time until it is ready, its CPU time and its memory.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  COMPLETE_KEY,
  EVENT_TYPES,
  TOPICS,
  TOPIC_TABLE,
  configurationKey,
  parseKeyring,
  sealSecret,
} from '@webhooks/contracts';
import type { ConfigurationRecord } from '@webhooks/contracts';
import { freePort, startKafka } from '@webhooks/local';
import { createKafka, ensureTopics, openSink } from '@webhooks/kafka';
import { generateSecret } from '@webhooks/outbound';

const [count = 1_000_000, perTenant = 1_000] = process.argv.slice(2, 4).map(Number);
const execArgv = process.argv.slice(4);
const KEYRING = `measure:${Buffer.alloc(32, 7).toString('base64')}`;
const keyring = parseKeyring(KEYRING);
const SHARE = 20_000;
const MAX_LOAD_MS = 300_000;

const refOf = (index: number): string => `0191e7a2-0000-7000-8000-${index.toString(16).padStart(12, '0')}`;

function recordOf(index: number): ConfigurationRecord {
  const tenantId = `tenant-${Math.floor(index / perTenant)}`;
  const ref = refOf(index);
  const now = new Date().toISOString();
  const secrets = [{ sealed: sealSecret(keyring, generateSecret(), configurationKey(tenantId, ref)) }];
  return {
    v: 1,
    tenantId,
    ref,
    revision: 1,
    eventType: EVENT_TYPES[index % EVENT_TYPES.length] ?? 'PIX_OUT',
    endpointUrl: `https://hooks.integrator-${index}.com.br/webhooks/pix/${index}`,
    applicationId: `application-${index % 10}`,
    enabled: true,
    createdAt: now,
    updatedAt: now,
    ...(index % 4 === 0 ? { secrets } : {}),
  };
}

async function fill(brokers: readonly string[]): Promise<number> {
  const kafka = createKafka({ brokers: [...brokers], clientId: 'measure' });
  await ensureTopics(kafka, TOPIC_TABLE);
  const sink = await openSink({ kafka });
  let bytes = 0;
  for (let from = 0; from < count; from += SHARE) {
    const records = Array.from({ length: Math.min(SHARE, count - from) }, (_, offset) => {
      const record = recordOf(from + offset);
      const value = JSON.stringify(record);
      bytes += value.length;
      return { topic: TOPICS.configurations, key: configurationKey(record.tenantId, record.ref), value };
    });
    await Promise.all(records.map((record) => sink.send(record)));
  }
  await sink.send({ topic: TOPICS.configurations, key: COMPLETE_KEY, value: '[]' });
  await sink.close();
  await kafka.close();
  return bytes;
}

async function untilReady(adminPort: number): Promise<void> {
  const deadline = performance.now() + MAX_LOAD_MS;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok === true) return;
    if (performance.now() > deadline) throw new Error('the worker was not ready after 300 s');
    await delay(50);
  }
}

/** MiB of a line of /proc/<pid>/status. */
const memoryOf = (pid: number | undefined, line: 'VmRSS' | 'VmHWM'): number =>
  Math.round(
    Number(new RegExp(`${line}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024,
  );

async function measure(brokers: readonly string[]): Promise<void> {
  const adminPort = await freePort();
  const begin = performance.now();
  const env = {
    ...process.env,
    KAFKA_BROKERS: brokers.join(','),
    SECRETS_KEYS: KEYRING,
    ADMIN_PORT: String(adminPort),
  };
  const worker = fork(join(import.meta.dirname, '..', 'src', 'main.js'), { env, execArgv });
  await untilReady(adminPort);
  const readyMs = performance.now() - begin;
  const known = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  const cpu = /^process_cpu_seconds_total (.*)$/m.exec(known)?.[1] ?? '';
  const [rss, peak] = [memoryOf(worker.pid, 'VmRSS'), memoryOf(worker.pid, 'VmHWM')];
  await delay(10_000);
  process.stdout.write(
    `${/^webhook_configurations .*$/m.exec(known)?.[0] ?? ''} (${perTenant} of each tenant): ready after ${(readyMs / 1_000).toFixed(1)} s and ${Number(cpu).toFixed(1)} s of CPU, RSS ${rss} MiB, at most ${peak} MiB, 10 s later ${memoryOf(worker.pid, 'VmRSS')} MiB\n`,
  );
  worker.kill('SIGTERM');
  await once(worker, 'exit');
}

const dataDir = mkdtempSync(join(tmpdir(), 'configurations-'));
const engine = await startKafka({ dataDir });
try {
  const bytes = await fill(engine.brokers);
  process.stdout.write(`${count} records of ${Math.round(bytes / count)} bytes in the topic\n`);
  await measure(engine.brokers);
} finally {
  await engine.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
