import { randomBytes } from 'node:crypto';
import { configurationKey, parseKeyring, sealPolicySecrets, sealSecret } from '@webhooks/contracts';
import { generateSecret, signStandardWebhooks } from '@webhooks/outbound';
import { ConfigurationTable } from '../src/configurations/configuration-cache.js';
import { toConfiguration } from '../src/configurations/configuration.js';
import { currentConfiguration } from '../src/configurations/current-configuration.js';
import { buildRecord, buildTask, fakeCache, REF } from './builders.js';

const keyring = parseKeyring(`k1:${randomBytes(32).toString('base64')}`);
const configuration = (over = {}) => toConfiguration(buildRecord(over), keyring);
const OTHER = REF.replace(/1$/, '2');

describe('a configuration that is loaded', () => {
  it('parses its URL at the first use only, and always gives the same target', () => {
    let parsed = 0;
    const original = globalThis.URL;
    globalThis.URL = new Proxy(original, {
      construct: (target, given: [string]) => {
        parsed += 1;
        return new target(...given);
      },
    });
    try {
      const lazy = configuration();
      expect(parsed).toBe(0);
      expect(lazy.target).toEqual({ origin: 'https://hook.acme.com.br', path: '/pix?x=1' });
      expect(lazy.target).toBe(lazy.target);
      expect(parsed).toBe(1);
    } finally {
      globalThis.URL = original;
    }
  });

  it('is one plain object without closures of its own', () => {
    const [one, two] = [configuration(), configuration({ ref: OTHER })];
    expect(Object.values(one).filter((value) => typeof value === 'function')).toEqual([]);
    expect(Object.getPrototypeOf(one)).toBe(Object.getPrototypeOf(two));
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

  it('do not need the key of an expired one', () => {
    const gone = parseKeyring(`old:${randomBytes(32).toString('base64')}`);
    const previous = {
      sealed: sealSecret(gone, generateSecret(), owner),
      expiresAt: '2026-01-02T00:00:00.000Z',
    };
    expect(
      configuration({ secrets: [sealed(), previous] }).signingSecrets(Date.parse('2026-01-03T00:00:00.000Z')),
    ).toHaveLength(1);
  });

  it('are none unless the configuration has some', () => {
    expect(configuration().signingSecrets(0)).toEqual([]);
  });

  it('throw when no key opens them, so that our own fault is no attempt', () => {
    const other = parseKeyring(`k2:${randomBytes(32).toString('base64')}`);
    const unreadable = toConfiguration(buildRecord({ secrets: [sealed()] }), other);
    expect(() => unreadable.signingSecrets(0)).toThrow('that this service does not have');
  });
});

describe('the delivery policy of a configuration', () => {
  const owner = configurationKey('acme', REF);
  const secrets = { headers: { 'X-Api-Key': 'k' } };

  it('is undefined unless the configuration has one', () => {
    expect(configuration().policy).toBeUndefined();
  });

  it('is opened once, and its time-out is bounded', () => {
    const sealed = sealPolicySecrets(keyring, secrets, owner);
    const lazy = configuration({ policy: { timeoutMs: 90_000, retryDelays: ['30s', '5m'], sealed } });
    expect(lazy.policy).toMatchObject({ timeoutMs: 30_000, delaysMs: [30_000, 300_000], ...secrets });
    expect(lazy.policy).toBe(lazy.policy);
  });

  it('throws when no key opens it, and when it is sealed for another', () => {
    const other = parseKeyring(`k2:${randomBytes(32).toString('base64')}`);
    for (const [ring, key] of [
      [other, owner],
      [keyring, configurationKey('acme', OTHER)],
    ] as const) {
      const lazy = configuration({ policy: { sealed: sealPolicySecrets(ring, secrets, key) } });
      expect(() => lazy.policy).toThrow();
      expect(lazy.target.maxConcurrency).toBeUndefined();
    }
  });
});

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
    const current = await currentConfiguration(buildTask(), fakeCache(table));
    const result = current.kind === 'cancelled' ? current.reason : current.kind;
    expect(result).toBe(expected);
  });

  it('catches up for a ref that is not known yet', async () => {
    const table = new ConfigurationTable();
    const cache = fakeCache(table, () => table.apply(configuration()));
    expect((await currentConfiguration(buildTask(), cache)).kind).toBe('active');
    expect(cache.catchUps).toBe(1);
  });

  it('catches up for a revision that is newer than the cache', async () => {
    const table = new ConfigurationTable();
    table.apply(configuration());
    const cache = fakeCache(table, () => table.apply(configuration({ revision: 5, enabled: false })));
    const current = await currentConfiguration(buildTask({ revision: 5 }), cache);
    expect(current).toEqual({ kind: 'cancelled', reason: 'disabled' });
  });

  it('is neither dead nor cancelled when it stays unknown', async () => {
    const current = await currentConfiguration(buildTask(), fakeCache(new ConfigurationTable()));
    expect(current).toEqual({ kind: 'unknown' });
  });
});
