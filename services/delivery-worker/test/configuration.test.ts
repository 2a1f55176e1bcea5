import { randomBytes } from 'node:crypto';
import { configurationKey, parseKeyring, sealSecret } from '@webhooks/contracts';
import { generateSecret, signStandardWebhooks } from '@webhooks/outbound';
import { ConfigurationTable } from '../src/configuration-table.js';
import { toConfiguration } from '../src/configuration.js';
import { currentConfiguration } from '../src/current-configuration.js';
import type { Picture } from '../src/picture.js';
import { REF, buildRecord, buildTask } from './builders.js';

const keyring = parseKeyring(`k1:${randomBytes(32).toString('base64')}`);
const configuration = (over = {}) => toConfiguration(buildRecord(over), keyring);
const OTHER = REF.replace(/1$/, '2');

describe('the table of configurations', () => {
  it('finds by key and by tenant and type', () => {
    const table = new ConfigurationTable();
    table.apply(configuration());
    table.apply(configuration({ ref: OTHER }));
    expect(table.find('acme', REF)?.target).toEqual({ origin: 'https://hook.acme.com.br', path: '/pix?x=1' });
    expect(table.find('globex', REF)).toBeUndefined();
    expect(table.enabledFor('acme', 'PIX_OUT').map(({ ref }) => ref)).toEqual([REF, OTHER]);
    expect(table.enabledFor('acme', 'PIX_STATIC')).toEqual([]);
  });

  it('applies only a higher revision', () => {
    const table = new ConfigurationTable();
    expect(table.apply(configuration({ revision: 2 }))).toBe(true);
    expect(table.apply(configuration({ revision: 2, enabled: false }))).toBe(false);
    expect(table.apply(configuration({ revision: 1, enabled: false }))).toBe(false);
    expect(table.enabledFor('acme', 'PIX_OUT')).toHaveLength(1);
  });

  it('moves a configuration whose type changed, and drops one that was disabled', () => {
    const table = new ConfigurationTable();
    table.apply(configuration());
    table.apply(configuration({ revision: 2, eventType: 'PIX_STATIC' }));
    expect(table.enabledFor('acme', 'PIX_OUT')).toEqual([]);
    expect(table.enabledFor('acme', 'PIX_STATIC')).toHaveLength(1);
    table.apply(configuration({ revision: 3, eventType: 'PIX_STATIC', enabled: false }));
    expect(table.enabledFor('acme', 'PIX_STATIC')).toEqual([]);
    expect(table.size).toBe(1);
  });

  it('does not change a list that somebody holds', () => {
    const table = new ConfigurationTable();
    table.apply(configuration());
    const held = table.enabledFor('acme', 'PIX_OUT');
    table.apply(configuration({ ref: OTHER }));
    expect(held).toHaveLength(1);
  });
});

describe('the secrets of a configuration', () => {
  const owner = configurationKey('acme', REF);
  const sealed = (expiresAt?: string) => ({
    sealed: sealSecret(keyring, generateSecret(), owner),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });

  it('sign with both during a rotation, and with the newest only after it', () => {
    const rotated = configuration({ secrets: [sealed(), sealed('2026-11-22T00:00:00.000Z')] });
    expect(rotated.signingSecrets(Date.parse('2026-11-21T23:59:59.999Z'))).toHaveLength(2);
    const later = rotated.signingSecrets(Date.parse('2026-11-22T00:00:00.000Z'));
    expect(later).toHaveLength(1);
    expect(
      signStandardWebhooks({ secrets: later, id: 'x', timestampSeconds: 1, body: Buffer.from('') }),
    ).toMatch(/^v1,/);
  });

  it('do not need the key of one that has expired', () => {
    const gone = parseKeyring(`old:${randomBytes(32).toString('base64')}`);
    const previous = {
      sealed: sealSecret(gone, generateSecret(), owner),
      expiresAt: '2026-01-02T00:00:00.000Z',
    };
    expect(
      configuration({ secrets: [sealed(), previous] }).signingSecrets(Date.parse('2026-01-03T00:00:00.000Z')),
    ).toHaveLength(1);
  });

  it('are none unless made', () => {
    expect(configuration().signingSecrets(0)).toEqual([]);
  });

  it('throw when no key opens them: our own fault is no attempt', () => {
    const other = parseKeyring(`k2:${randomBytes(32).toString('base64')}`);
    const unreadable = toConfiguration(buildRecord({ secrets: [sealed()] }), other);
    expect(() => unreadable.signingSecrets(0)).toThrow('not known here');
  });
});

function fakePicture(
  table: ConfigurationTable,
  onCatchUp: () => void = () => undefined,
): Picture & { catchUps: number } {
  const picture = {
    size: 0,
    catchUps: 0,
    isFresh: () => true,
    whenFresh: () => Promise.resolve(),
    find: (tenantId: string, ref: string) => table.find(tenantId, ref),
    enabledFor: () => [],
    catchUp: () => {
      picture.catchUps += 1;
      onCatchUp();
      return Promise.resolve();
    },
  };
  return picture;
}

describe('the configuration in force', () => {
  it.each([
    ['nothing changed', {}, 'active'],
    ['the URL changed', { revision: 2, endpointUrl: 'https://new.acme.com.br/' }, 'active'],
    ['it was disabled', { revision: 2, enabled: false }, 'disabled'],
    ['its type changed', { revision: 2, eventType: 'PIX_STATIC' }, 'event-type-changed'],
    ['its application changed', { revision: 2, applicationId: 'x' }, 'application-changed'],
  ])('%s', async (_, change, expected) => {
    const table = new ConfigurationTable();
    table.apply(configuration(change));
    const current = await currentConfiguration(buildTask(), fakePicture(table));
    const result =
      current.kind === 'active' ? 'active' : 'reason' in current.settlement ? current.settlement.reason : '';
    expect(result).toBe(expected);
  });

  it('catches up for a ref that is not known yet', async () => {
    const table = new ConfigurationTable();
    const picture = fakePicture(table, () => table.apply(configuration()));
    expect((await currentConfiguration(buildTask(), picture)).kind).toBe('active');
    expect(picture.catchUps).toBe(1);
  });

  it('catches up for a revision that is newer than the picture', async () => {
    const table = new ConfigurationTable();
    table.apply(configuration());
    const picture = fakePicture(table, () => table.apply(configuration({ revision: 5, enabled: false })));
    const current = await currentConfiguration(buildTask({ revision: 5 }), picture);
    expect(current).toEqual({ kind: 'ended', settlement: { kind: 'cancelled', reason: 'disabled' } });
  });

  it('is dead, not cancelled, when it stays unknown', async () => {
    const current = await currentConfiguration(buildTask(), fakePicture(new ConfigurationTable()));
    expect(current).toEqual({ kind: 'ended', settlement: { kind: 'dead', reason: 'configuration-unknown' } });
  });
});
