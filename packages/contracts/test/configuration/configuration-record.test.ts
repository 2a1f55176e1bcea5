import { parseConfigurationRecord } from '../../src/index.js';

describe('the revision of a configuration', () => {
  const record = (revision: number) =>
    parseConfigurationRecord(
      Buffer.from(
        JSON.stringify({
          ...{
            v: 1,
            tenantId: 'acme',
            ref: '0191e7a2-0000-7000-8000-000000000001',
            eventType: 'PIX_OUT',
            enabled: true,
          },
          ...{ endpointUrl: 'https://a.net/', revision },
          ...{ createdAt: '2026-11-22T10:00:00Z', updatedAt: '2026-11-22T10:00:00Z' },
        }),
      ),
    );

  it.each([2 ** 53, 1e22, 1e308, 2 ** 53 - 1])(
    '%s is no revision, because no later one would be higher',
    (revision) => {
      const read = record(revision);
      expect(read.ok ? 'read' : read.reason).toMatch(/^revision must be/);
    },
  );

  it('may be far above the number of changes', () => {
    expect(record(1e12)).toMatchObject({ ok: true });
  });
});
