import { mkdir, readFile, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedFolder, cacheRoot } from '../../src/engine/folders.js';
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

  const fill = (folder: string) => writeFile(join(folder, 'content'), 'whole');

  it('is in XDG_CACHE_HOME, else in ~/.cache', () => {
    expect(cacheRoot()).toBe(join(cache, 'webhooks-engines'));
    expect(cacheRoot({})).toMatch(/\.cache[/\\]webhooks-engines$/);
  });

  it('fills a folder once', async () => {
    let fills = 0;
    const counting = async (folder: string) => {
      fills += 1;
      await fill(folder);
    };
    const folders = [await cachedFolder('once', counting), await cachedFolder('once', counting)];
    expect(new Set(folders).size).toBe(1);
    expect(fills).toBe(1);
  });

  it('is the folder of the first when two processes fill it at once', async () => {
    const env = { XDG_CACHE_HOME: cache };
    const lines = await Promise.all([1, 2].map(() => runProgram('fill-cache', ['shared'], env).firstLine));
    const folder = join(cacheRoot(), 'shared');
    expect(lines).toEqual([folder, folder]);
    await expect(readdir(cacheRoot())).resolves.toEqual(['shared']);
    await expect(readFile(join(folder, 'content'), 'utf8')).resolves.toBe('whole');
  });

  it('leaves nothing behind when filling fails, and the next try works', async () => {
    const failing = async (folder: string) => {
      await fill(folder);
      throw new Error('the connection broke');
    };
    await expect(cachedFolder('torn', failing)).rejects.toThrow('the connection broke');
    await expect(readdir(cacheRoot())).resolves.toEqual([]);
    await expect(cachedFolder('torn', fill)).resolves.toBe(join(cacheRoot(), 'torn'));
  });

  it('removes what a killed process left half-written more than an hour ago', async () => {
    const left = join(cacheRoot(), 'jars.tmp-abc');
    await mkdir(left, { recursive: true });
    const longAgo = new Date(Date.now() - 2 * 3_600_000);
    await utimes(left, longAgo, longAgo);
    await mkdir(join(cacheRoot(), 'fresh.tmp-def'));
    await cachedFolder('other', fill);
    expect((await readdir(cacheRoot())).sort()).toEqual(['fresh.tmp-def', 'other']);
  });
});
