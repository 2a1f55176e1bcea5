import { MongoClient } from 'mongodb';
import { engineOf } from '../../src/engine/folders.js';
import { awaitMongo } from '../../src/mongo/mongo-program.js';
import { startEmbeddedMongo, useMongoAddress, withDatabase } from '../../src/mongo/start-mongo.js';
import type { MongoEngine } from '../../src/mongo/start-mongo.js';
import { testMongoUri } from '../../src/test-engines.js';
import { runProgram } from '../run-program.js';
import { scratchFolders } from '../scratch-folder.js';

describe('the embedded MongoDB', () => {
  const scratch = scratchFolders();
  const running: MongoEngine[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((engine) => engine.stop()));
  });

  async function start(dataDir: string): Promise<MongoEngine> {
    const engine = await startEmbeddedMongo({ dataDir, log: () => undefined });
    running.push(engine);
    return engine;
  }

  async function inClient<T>(engine: MongoEngine, work: (client: MongoClient) => Promise<T>): Promise<T> {
    const client = new MongoClient(engine.uri('kept'), { serverSelectionTimeoutMS: 5_000 });
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  }

  const write = (engine: MongoEngine, n: number) =>
    inClient(engine, (client) => client.db().collection<{ n: number }>('facts').insertOne({ n }));
  const read = (engine: MongoEngine) =>
    inClient(engine, async (client) => {
      const facts = await client.db().collection<{ n: number }>('facts').find().sort({ n: 1 }).toArray();
      return facts.map(({ n }) => n);
    });

  it('keeps acknowledged data over kill -9, restart on the same address, and a new start', async () => {
    const dataDir = await scratch();
    const first = await start(dataDir);
    await write(first, 1);
    const uri = first.uri('kept');
    expect(uri).toMatch(/\/kept\?directConnection=true&retryWrites=false/);
    first.kill();
    await first.restart();
    expect(first.uri('kept')).toBe(uri);
    expect(await read(first)).toEqual([1]);
    await write(first, 2);
    await first.stop();
    expect(first.pid).toBeUndefined();
    expect(await read(await start(dataDir))).toEqual([1, 2]);
  });

  it('ends when its parent is killed, and its folder can be used at once', async () => {
    const dataDir = await scratch();
    const holder = runProgram('hold-engine', ['mongo', dataDir]);
    const [pid = ''] = (await holder.firstLine).split(' ');
    expect(String(engineOf(dataDir))).toBe(pid);
    holder.child.kill('SIGKILL');
    const next = await start(dataDir);
    expect(engineOf(dataDir)).toBe(next.pid);
    expect(await read(next)).toEqual([]);
  });

  it('is not taken for another one that listens on its port', async () => {
    const obstacle = await awaitMongo(testMongoUri('any'), { deadlineMs: 0 }, process.pid);
    expect(obstacle).toBe('another server has the port');
  });

  it('can be named by its address, and is not ended then', async () => {
    const uri = testMongoUri('any');
    const engine = await useMongoAddress(uri);
    expect(engine.isEmbedded).toBe(false);
    expect(() => engine.kill()).toThrow(/MONGODB_URI names/);
    await engine.stop();
    await expect(useMongoAddress(uri)).resolves.toMatchObject({ pid: undefined });
  });

  it('says what to do when the named server does not respond', async () => {
    const nobody = useMongoAddress('mongodb://127.0.0.1:9/', 500);
    await expect(nobody).rejects.toThrow(/MONGODB_URI: no response within 0\.5 s .* unset MONGODB_URI/);
  });
});

describe('a connection string for a database', () => {
  it.each([
    ['mongodb://127.0.0.1:27017', 'mongodb://127.0.0.1:27017/a'],
    ['mongodb://127.0.0.1:27017/', 'mongodb://127.0.0.1:27017/a'],
    ['mongodb://h1:1,h2:2/old?replicaSet=rs0', 'mongodb://h1:1,h2:2/a?replicaSet=rs0'],
    ['mongodb+srv://cluster.example/?w=majority', 'mongodb+srv://cluster.example/a?w=majority'],
    ['mongodb://u:p%40@h/', 'mongodb://u:p%40@h/a?authSource=admin'],
    ['mongodb://u:p@h/users', 'mongodb://u:p@h/a?authSource=users'],
    ['mongodb://u:p@h/users?authSource=admin', 'mongodb://u:p@h/a?authSource=admin'],
  ])('%s → %s', (base, expected) => {
    expect(withDatabase(base, 'a')).toBe(expected);
  });

  it('is refused for a malformed base, which is not repeated because it may hold a password', () => {
    expect(() => withDatabase('http://user:secret@host', 'a')).toThrow(
      /^expected a connection string that begins/,
    );
  });
});
