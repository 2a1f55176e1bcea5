import { mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../src/engine/command.js';
import { readJarLock, verifyJar, findJava } from '../../src/kafka/jars.js';
import { findPython, findSecantus } from '../../src/mongo/secantus.js';
import { scratchFolders } from '../scratch-folder.js';

describe('what the embedded engines need', () => {
  const scratch = scratchFolders();
  const { PATH, JAVA_HOME, XDG_CACHE_HOME } = process.env;
  const before = { PATH, JAVA_HOME, XDG_CACHE_HOME };
  afterEach(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  });

  async function withCommands(commands: Readonly<Record<string, string>>): Promise<void> {
    const folder = await mkdtemp(join(await scratch(), 'bin-'));
    await symlink('/bin/sh', join(folder, 'sh'));
    for (const [name, script] of Object.entries(commands)) {
      await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    process.env['PATH'] = folder;
    delete process.env['JAVA_HOME'];
  }

  it('explains a missing Java and Python with the commands that install them', async () => {
    await withCommands({});
    await expect(findJava()).rejects.toThrow(
      /needs Java 17 or newer\..*apt-get install openjdk-17-jre-headless.*KAFKA_BROKERS/s,
    );
    await expect(findPython()).rejects.toThrow(/Python 3 was not found\..*apt-get install python3/);
  });

  it('refuses a version of SecantusDB whose hashes are not in its list, with the command that adds it', async () => {
    const python = `case "$*" in
      *--version) ;;
      *--require-hashes*) echo 'ERROR: No matching distribution found for secantusdb==0.7.0b3'; exit 1 ;;
      -c*) echo "python 3.11 $0" ;;
    esac`;
    await withCommands({ python3: python });
    process.env['XDG_CACHE_HOME'] = await scratch();
    await expect(findSecantus(() => undefined)).rejects.toThrow(
      /installed no allowed version of SecantusDB \(0\.7\.0b3.*\): .*\n.* allowed by: sh packages\/local\/secantus\/lock VERSION$/,
    );
  });

  it('does not take a Java that is too old', async () => {
    await withCommands({ java: 'echo \'openjdk version "11.0.2" 2019-01-15\' >&2' });
    await expect(findJava()).rejects.toThrow(/needs Java 17/);
  });

  it('takes a Java from JAVA_HOME first', async () => {
    const home = await scratch();
    await runCommand('mkdir', ['-p', join(home, 'bin')], { timeoutMs: 5_000 });
    await withCommands({ java: 'echo \'openjdk version "17.0.1"\' >&2' });
    const script = '#!/bin/sh\necho \'openjdk version "25.0.1" 2026-01-15\' >&2\n';
    await writeFile(join(home, 'bin', 'java'), script, { mode: 0o755 });
    process.env['JAVA_HOME'] = home;
    await expect(findJava()).resolves.toBe(join(home, 'bin', 'java'));
  });

  it('uses only jars whose checksum is in the lock file', async () => {
    const [jar] = readJarLock().jars;
    if (!jar) throw new Error('the lock file is empty');
    const path = join(await scratch(), jar.fileName);
    await writeFile(path, 'not what was asked for');
    await expect(verifyJar(jar, path)).rejects.toThrow(
      new RegExp(`^${jar.coordinates}: expected SHA-256 ${jar.sha256}, came [0-9a-f]{64}; not used$`),
    );
  });

  it('locks every jar by coordinates, with the codecs that foreign producers use', () => {
    const { jars } = readJarLock();
    const artifacts = jars.map(({ coordinates }) => coordinates.split(':')[1]);
    expect(artifacts).toEqual(expect.arrayContaining(['kafka_2.13', 'zstd-jni', 'lz4-java', 'snappy-java']));
    expect(new Set(artifacts).size).toBe(artifacts.length);
  });
});
