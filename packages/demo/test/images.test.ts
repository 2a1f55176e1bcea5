import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
