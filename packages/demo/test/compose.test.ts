import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { FOLDERS } from '../src/containers/environment.js';
import { readDescriptors } from './read-descriptors.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8');

interface Container {
  readonly networks?: unknown;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly image?: string;
  readonly entrypoint?: readonly string[];
  readonly mem_limit?: string;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly logging?: { readonly options: Readonly<Record<string, string>> };
}

interface Compose {
  readonly services: Readonly<Record<string, Container>>;
  readonly networks: Readonly<Record<string, { readonly name?: string }>>;
}

const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose;
const services = readdirSync(join(ROOT, 'services'), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
const environmentOf = (name: string): Readonly<Record<string, string>> =>
  compose.services[name]?.environment ?? {};

describe('docker-compose.yml', () => {
  it('runs every service there is', () => {
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(services));
  });

  it.each(services)('sets only what %s reads', async (service) => {
    const settings = await readDescriptors(service);
    const unknown = Object.keys(environmentOf(service)).filter(
      (name) => name !== 'NODE_ENV' && !settings.has(name) && !settings.has(name.replace(/_FILE$/, '')),
    );
    expect(unknown).toEqual([]);
  });

  it.each(services)('runs %s as in production, where no endpoint may be on localhost', (service) => {
    expect(environmentOf(service)['NODE_ENV']).toBe('production');
    expect(environmentOf(service)).not.toHaveProperty('ALLOW_LOCALHOST_ENDPOINTS');
  });

  it('keeps the admin port of a service from the receivers, whose network it is on', () => {
    const beside = services.filter((service) => {
      const { networks } = compose.services[service] ?? {};
      return Array.isArray(networks) && networks.includes('outside');
    });
    expect(beside).toEqual(['delivery-worker']);
    const host = `ADMIN_HOST=$$HOSTNAME.${compose.networks['inside']?.name ?? ''} `;
    expect(compose.services['delivery-worker']?.entrypoint?.join(' ')).toContain(host);
  });

  it('publishes ports on this machine only, unless a setting says otherwise, and Kafka always', () => {
    const ports = Object.values(compose.services).flatMap((container) => container.ports ?? []);
    expect(ports.length).toBeGreaterThan(0);
    expect(
      ports.filter((port) => !/^(\$\{PUBLISH_ADDRESS:-127\.0\.0\.1\}|127\.0\.0\.1):/.test(port)),
    ).toEqual([]);
    expect(compose.services['kafka']?.ports?.every((port) => port.startsWith('127.0.0.1:'))).toBe(true);
  });

  it.each(Object.entries(compose.services))(
    'bounds %s, and takes its image by setting',
    (_name, container) => {
      expect(container.mem_limit).toMatch(/^\d+[mg]$/);
      expect(container.cap_drop).toEqual(['ALL']);
      expect(container.security_opt).toEqual(['no-new-privileges:true']);
      expect(container.logging?.options['max-size']).toBe('10m');
      expect(container.image).toMatch(/^(webhooks\/[a-z-]+:local|\$\{[A-Z]+_IMAGE:-.*\})$/);
    },
  );

  it('mounts the folders that the containers of the demonstration use, and the image has them', () => {
    const mounted = Object.values(compose.services)
      .flatMap((container) => container.volumes ?? [])
      .flatMap((volume) => /:(\/var\/lib\/webhooks\/[^:]+)/.exec(volume)?.[1] ?? []);
    const folders = Object.values(FOLDERS).sort();
    expect([...new Set(mounted)].sort()).toEqual(folders);
    const made = /for name in ([a-z -]+); do/.exec(read('deploy', 'docker', 'Dockerfile'))?.[1] ?? '';
    expect(made.split(' ').map((name) => `/var/lib/webhooks/${name}`)).toEqual(folders);
  });

  it('lets nobody but one service read its connection string, and nobody but the database the passwords', () => {
    const readersOf = (folder: string): string[] => {
      const volume = folder.slice('/var/lib/webhooks/'.length);
      return Object.entries(compose.services).flatMap(([name, { volumes = [] }]) =>
        name !== 'make-keys' && volumes.some((mount) => mount.startsWith(`${volume}:`)) ? [name] : [],
      );
    };
    expect(readersOf(FOLDERS.configDatabase)).toEqual(['config-api']);
    expect(readersOf(FOLDERS.queryDatabase)).toEqual(['query-api']);
    expect(readersOf(FOLDERS.database)).toEqual(['mongodb']);
  });

  it('holds no secret', () => {
    const values = Object.values(compose.services).flatMap((container) =>
      Object.entries(container.environment ?? {}),
    );
    const secret = values.filter(([name]) => /PASSWORD|SECRET|KEY/.test(name) && !name.endsWith('_FILE'));
    expect(secret).toEqual([]);
  });

  it('runs another program of an image when it is given one', () => {
    const scripts = Object.values(compose.services).flatMap(({ entrypoint }) => entrypoint?.[2] ?? []);
    expect(scripts).not.toEqual([]);
    for (const script of scripts) expect(script).toMatch(/ exec \S+ "\$\$@"$/);
  });
});
