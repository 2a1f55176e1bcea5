import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../src/engine/command.js';
import { awaitFreeDataFolder, engineOf } from '../../src/engine/folders.js';
import { ALL_COMPILERS, awaitBroker, classArchive, javaArguments } from '../../src/kafka/broker-process.js';
import { prepareRuntime, startEmbeddedKafka, useKafkaAddress } from '../../src/kafka/start-kafka.js';
import type { KafkaEngine } from '../../src/kafka/start-kafka.js';
import { freePort } from '../../src/engine/free-port.js';
import { testKafkaBrokers } from '../../src/test-engines.js';
import { runProgram } from '../run-program.js';
import { scratchFolders } from '../scratch-folder.js';
import { clientOf, consume, makeTopic, produce } from './broker-client.js';

describe('the embedded Kafka', () => {
  const scratch = scratchFolders();
  const running: KafkaEngine[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((engine) => engine.stop()));
  });

  async function start(dataDir: string, port?: number, lines: string[] = []): Promise<KafkaEngine> {
    const log = (line: string) => lines.push(line);
    const engine = await startEmbeddedKafka({ dataDir, log, ...(port === undefined ? {} : { port }) });
    running.push(engine);
    return engine;
  }

  it('keeps acknowledged records over kill -9, restart on the same address, and a new start', async () => {
    const dataDir = join(await scratch(), 'dados é');
    const first = await start(dataDir);
    const topic = await makeTopic(clientOf(first.brokers));
    await produce(clientOf(first.brokers), topic, ['one']);

    const brokers = [...first.brokers];
    first.kill();
    await first.restart();
    expect(first.brokers).toEqual(brokers);
    await produce(clientOf(first.brokers), topic, ['two']);
    await first.stop();
    expect(first.pid).toBeUndefined();

    const second = await start(dataDir);
    await produce(clientOf(second.brokers), topic, ['three']);
    expect(await consume(clientOf(second.brokers), topic, 3)).toEqual(['one', 'two', 'three']);
  });

  it('begins with the data and the classes of the template: nothing is formatted', async () => {
    const runtime = await prepareRuntime(() => undefined);
    const { java, template = '' } = runtime;
    const dataDir = await scratch();
    const engine = await start(dataDir);
    // Each format writes a directory id of its own.
    const identity = (folder: string) => readFile(join(folder, 'data', 'meta.properties'), 'utf8');
    expect(await identity(dataDir)).toBe(await identity(template));
    const { output: command } = await runCommand('ps', ['-o', 'args=', '-p', String(engine.pid)], {
      timeoutMs: 5_000,
    });
    expect(command).toContain(classArchive(template));
    // With -Xshare:on Java ends when it cannot use the archive.
    const strictly = javaArguments(runtime, ['-Xshare:on', ALL_COMPILERS], 'kafka.tools.StorageTool');
    const { code, output } = await runCommand(java, [...strictly, 'random-uuid'], { timeoutMs: 60_000 });
    expect(output).toMatch(/^[\w-]{22}\n$/);
    expect(code).toBe(0);
  });

  it('advertises a proxied listener’s other port to its clients, and the broker’s own port to all others', async () => {
    const [own, entered, named] = [await freePort(), await freePort(), await freePort()];
    const proxiedListeners = [
      { port: entered, advertisedPort: named },
      { port: named, advertisedPort: named },
    ];
    const engine = await startEmbeddedKafka({
      dataDir: await scratch(),
      port: own,
      proxiedListeners,
      log: () => undefined,
    });
    running.push(engine);
    const seenFrom = async (port: number): Promise<number[]> => {
      const admin = clientOf([`127.0.0.1:${port}`]).admin();
      await admin.connect();
      const { brokers } = await admin.describeCluster();
      await admin.disconnect();
      return brokers.map((broker) => broker.port);
    };
    expect(await seenFrom(entered)).toEqual([named]);
    expect(await seenFrom(own)).toEqual([own]);
  });

  it('ends when its parent is killed, and its folder can be used at once', async () => {
    const dataDir = await scratch();
    const holder = runProgram('hold-engine', ['kafka', dataDir]);
    const [pid = ''] = (await holder.firstLine).split(' ');
    expect(String(engineOf(dataDir))).toBe(pid);
    holder.child.kill('SIGKILL');
    const next = await start(dataDir);
    expect(engineOf(dataDir)).toBe(next.pid);
    expect(String(next.pid)).not.toBe(pid);
  });

  it('is not taken for another one that listens on its port', async () => {
    const [address = ''] = testKafkaBrokers();
    const obstacle = await awaitBroker(address, { deadlineMs: 0 }, await scratch());
    expect(obstacle).toBe('another broker has the port');
  });

  it('starts after a crash that left a recycled process id, half a format or half a data folder', async () => {
    const dataDir = await scratch();
    await writeFile(join(dataDir, 'engine.pid'), String(process.pid));
    await writeFile(join(dataDir, 'engine.pid.start'), 'earlier');
    await mkdir(join(dataDir, 'data.unfinished', 'rest'), { recursive: true });
    await mkdir(join(dataDir, 'data', 'topic-0'), { recursive: true });
    const lines: string[] = [];
    await start(dataDir, undefined, lines);
    expect(existsSync(join(dataDir, 'data.unfinished'))).toBe(false);
    expect(lines.join('\n')).toMatch(/data was not a complete Kafka folder .* moved to .*data\.incomplete-/);
    const aside = (await readdir(dataDir)).find((name) => name.startsWith('data.incomplete-')) ?? '';
    expect(await readdir(join(dataDir, aside))).toEqual(['topic-0']);
  });

  it('explains why it does not start: a folder in use, or the last words of the broker', async () => {
    const dataDir = await scratch();
    const engine = await start(dataDir);
    await expect(awaitFreeDataFolder(dataDir, () => undefined, 100)).rejects.toThrow(
      `${dataDir} is in use by process ${String(engine.pid)}. Stop it, or choose another data folder.`,
    );
    await engine.stop();
    await writeFile(join(dataDir, 'data', 'meta.properties'), 'version=1\ncluster.id=other\nnode.id=7\n');
    await expect(engine.restart()).rejects.toThrow(
      /^Apache Kafka did not start \(exit code 1; whole log: .*kafka\.log\):\n.*\n.*Stored node id 7 doesn't match/,
    );
  });
});

describe('a Kafka named by KAFKA_BROKERS', () => {
  it('is used as it is, and is not ended', async () => {
    const kafka = await useKafkaAddress(` ${testKafkaBrokers().join(' , ')},127.0.0.1:9 `);
    expect(kafka).toMatchObject({ isEmbedded: false, pid: undefined });
    expect(kafka.brokers).toEqual([...testKafkaBrokers(), '127.0.0.1:9']);
    expect(() => kafka.kill()).toThrow(/KAFKA_BROKERS names/);
    await expect(kafka.restart()).rejects.toThrow(/KAFKA_BROKERS names/);
    await kafka.stop();
    await expect(useKafkaAddress(testKafkaBrokers().join(','))).resolves.toBeDefined();
  });

  it('is used as soon as one broker serves', async () => {
    // The other would be tried for ten minutes.
    await expect(
      useKafkaAddress(`127.0.0.1:9,${testKafkaBrokers().join(',')}`, 600_000),
    ).resolves.toBeDefined();
  });

  it('is explained when no broker serves', async () => {
    await expect(useKafkaAddress('127.0.0.1:9', 200)).rejects.toThrow(
      /KAFKA_BROKERS=127\.0\.0\.1:9: no broker served within 0\.2 s \(.*ECONNREFUSED.*\).*unset KAFKA_BROKERS/,
    );
  });
});
