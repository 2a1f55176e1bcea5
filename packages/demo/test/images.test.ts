import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { has, needs } from './tool.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const DOCKER = join(ROOT, 'deploy', 'docker');

const IMAGES = ['cli', 'config-api', 'console', 'delivery-worker', 'demo', 'ingest', 'query-api'].map(
  (name) => `webhooks/${name}:local`,
);
const withImages = needs('an image of docker-compose.yml', has('docker', 'image', 'inspect', ...IMAGES));

describe('an image', () => {
  withImages.each(IMAGES)(
    '%s has only what runs, and starts read-only, without root and capabilities',
    (image) => {
      const { stdout } = spawnSync(join(DOCKER, 'check-image'), [image], { encoding: 'utf8' });
      expect(stdout.split('\n')).toEqual([expect.stringMatching(/MB/), '']);
    },
    60_000,
  );

  it('has each native package for arm64, too', () => {
    const { packages } = parse(readFileSync(join(ROOT, 'pnpm-lock.yaml'), 'utf8')) as {
      packages: Readonly<
        Record<string, { readonly os?: readonly string[]; readonly libc?: readonly string[] }>
      >;
    };
    const native = Object.entries(packages).filter(
      ([name, { os, libc }]) => name.includes('x64') && os?.includes('linux') && !libc?.includes('musl'),
    );
    expect(native.length).toBeGreaterThan(2);
    expect(
      native.map(([name]) => name.replace('x64', 'arm64')).filter((name) => !(name in packages)),
    ).toEqual([]);
  });
});

const MIB = 1_048_576;

it.each([
  ['no limit', 'memory.max', 'max', 1_536],
  ['a limit of 512 MiB', 'memory.max', String(512 * MIB), 256],
  ['a limit of 8 GiB', 'memory.max', String(8_192 * MIB), 1_536],
  ['512 MiB in the first version of control groups', 'memory/memory.limit_in_bytes', String(512 * MIB), 256],
  ['none there', 'memory/memory.limit_in_bytes', '9223372036854771712', 1_536],
  ['no control groups', 'other', '', 1_536],
])('the heap of a container with %s is half of it, and 1,536 MiB at most', (_limit, name, text, heap) => {
  const folder = mkdtempSync(join(tmpdir(), 'cgroup-'));
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), `${text}\n`);
  const env = { ...process.env, CGROUP: folder, NODE_BINARY: 'echo' };
  const flags = execFileSync(join(DOCKER, 'run-node'), ['main.js'], { env, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  expect(flags).toContain(`--max-old-space-size=${heap} `);
});
