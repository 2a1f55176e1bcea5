import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { cachedFolder, cacheRoot } from '../../src/cache/cached-folder.js';
import { withLock } from '../../src/cache/lock.js';
import { runProgram } from '../run-program.js';
import { scratchFolders } from '../scratch-folder.js';

describe('the cache outside of the checkout', () => {
  const scratch = scratchFolders();
  const cacheBefore = process.env['XDG_CACHE_HOME'];
  let cache: string;

  beforeEach(async () => {
    cache = await scratch();
    process.env['XDG_CACHE_HOME'] = cache;
  });
  afterAll(() => {
    if (cacheBefore === undefined) delete process.env['XDG_CACHE_HOME'];
    else process.env['XDG_CACHE_HOME'] = cacheBefore;
  });

  const silent = () => undefined;
  const fill = (folder: string) => writeFile(join(folder, 'content'), 'whole');

  it('is where XDG_CACHE_HOME says, else in ~/.cache', () => {
    expect(cacheRoot()).toBe(join(cache, 'webhooks-engines'));
    expect(cacheRoot({})).toMatch(/\.cache[/\\]webhooks-engines$/);
  });

  it('fills a folder once', async () => {
    let fills = 0;
    const counting = async (folder: string) => {
      fills += 1;
      await fill(folder);
    };
    const folders = [
      await cachedFolder('once', silent, counting),
      await cachedFolder('once', silent, counting),
    ];
    expect(new Set(folders).size).toBe(1);
    expect(fills).toBe(1);
  });

  it('does the work once when two processes want the same folder at once', async () => {
    const env = { XDG_CACHE_HOME: cache };
    const lines = await Promise.all([1, 2].map(() => runProgram('fill-cache', ['shared'], env).firstLine));
    const answers = lines.map((line): unknown => JSON.parse(line));
    const folder = join(cacheRoot(), 'shared');
    expect(answers).toEqual(
      expect.arrayContaining([
        { folder, filled: true },
        { folder, filled: false },
      ]),
    );
    await expect(readFile(join(folder, 'content'), 'utf8')).resolves.toBe('whole');
  });

  it('leaves nothing behind when filling fails, and the next try works', async () => {
    const failing = async (folder: string) => {
      await fill(folder);
      throw new Error('the connection broke');
    };
    await expect(cachedFolder('torn', silent, failing)).rejects.toThrow('the connection broke');
    await expect(readdir(cacheRoot())).resolves.toEqual([]);
    await expect(cachedFolder('torn', silent, fill)).resolves.toBe(join(cacheRoot(), 'torn'));
  });

  it('takes over the lock of a process that was killed', async () => {
    const ended = spawnSync(process.execPath, ['--version']).pid;
    await mkdir(cacheRoot(), { recursive: true });
    await writeFile(join(cacheRoot(), 'taken.lock'), `${ended} ${hostname()}\n`);
    await cachedFolder('taken', silent, fill);
    expect(existsSync(join(cacheRoot(), 'taken.lock'))).toBe(false);
  });

  it('takes over a lock that nobody has touched for long, whoever holds it', async () => {
    const path = join(cache, 'old.lock');
    await writeFile(path, `${process.pid} another-host\n`);
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(path, longAgo, longAgo);
    await expect(withLock(path, { waitMs: 1_000 }, () => Promise.resolve('mine'))).resolves.toBe('mine');
  });

  it('names the lock file when another process holds it for too long', async () => {
    const path = join(cache, 'held.lock');
    let waits = 0;
    await withLock(path, { waitMs: 0 }, async () => {
      const second = withLock(path, { waitMs: 150, onWait: () => (waits += 1) }, () => Promise.resolve());
      await expect(second).rejects.toThrow(/held\.lock for 0\.15 s; remove it if none is running/);
    });
    expect(waits).toBe(1);
  });

  it('removes what a killed process left half-written more than an hour ago', async () => {
    const left = join(cacheRoot(), 'jars.tmp-abc');
    await mkdir(left, { recursive: true });
    const longAgo = new Date(Date.now() - 2 * 3_600_000);
    await utimes(left, longAgo, longAgo);
    await mkdir(join(cacheRoot(), 'fresh.tmp-def'));
    await cachedFolder('other', silent, fill);
    expect((await readdir(cacheRoot())).sort()).toEqual(['fresh.tmp-def', 'other']);
  });
});
