import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SettingsError, SettingsReader, readSettings } from '../src/index.js';

const faultsOf = (
  env: Record<string, string>,
  read: (settings: SettingsReader) => unknown,
): readonly string[] => {
  try {
    readSettings(env, read);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.faults;
    throw error;
  }
};

describe('settings', () => {
  it('are reported all together when several are wrong', () => {
    const faults = faultsOf({ PORT: '70000', FLAG: 'yes', TIMEOUT_MS: '1e3', ISSUER: 'nope' }, (settings) => [
      settings.text('NEEDED'),
      settings.port('PORT', 1),
      settings.flag('FLAG', false),
      settings.integer('TIMEOUT_MS', 5),
      settings.url('ISSUER'),
      settings.list('BROKERS'),
    ]);
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual([
      'NEEDED',
      'PORT',
      'FLAG',
      'TIMEOUT_MS',
      'ISSUER',
      'BROKERS',
    ]);
  });

  it('take defaults for what is unset or empty', () => {
    const read = (settings: SettingsReader) => [
      settings.port('PORT', 8080),
      settings.flag('FLAG', true),
      settings.list('L', ['a']),
    ];
    expect(readSettings({ PORT: '' }, read)).toEqual([8080, true, ['a']]);
    expect(readSettings({ PORT: '0', FLAG: 'false', L: 'b, c,' }, read)).toEqual([0, false, ['b', 'c']]);
  });

  it('name the file that they come from, unless they are set themselves', () => {
    const fileOf = (env: Record<string, string>) => new SettingsReader(env).fileOf('KEY');
    expect(fileOf({ KEY_FILE: '/run/key' })).toBe('/run/key');
    expect(fileOf({ KEY: 'hunter2', KEY_FILE: '/run/key' })).toBeUndefined();
    expect(fileOf({ KEY_FILE: '' })).toBeUndefined();
  });

  it('come from a file when only its name is given', () => {
    const dir = mkdtempSync(join(tmpdir(), 'settings-'));
    writeFileSync(join(dir, 'secret'), 'hunter2\n');
    expect(readSettings({ KEY_FILE: join(dir, 'secret') }, (settings) => settings.text('KEY'))).toBe(
      'hunter2',
    );
    expect(faultsOf({ KEY_FILE: join(dir, 'none') }, (settings) => settings.text('KEY', 'x'))[0]).toContain(
      'KEY_FILE',
    );
    writeFileSync(join(dir, 'empty'), '\n');
    expect(faultsOf({ KEY_FILE: join(dir, 'empty') }, (settings) => settings.text('KEY'))).toEqual([
      'KEY is required',
    ]);
    expect(
      faultsOf({ CA_FILE: join(dir, 'empty') }, (settings) => settings.renewableFile('CA_FILE')),
    ).toEqual([`CA_FILE names an empty file: ${join(dir, 'empty')}`]);
    rmSync(dir, { recursive: true });
  });

  it('never repeat a secret in a fault', () => {
    const faults = faultsOf({ KEY: 'hunter2' }, (settings) =>
      settings.parsed('KEY', undefined, () => {
        throw new Error('expected 32 bytes');
      }),
    );
    expect(faults).toEqual(['KEY: expected 32 bytes']);
  });

  it('are described as they were read: type, bounds, default, and whether they are required', () => {
    const settings = new SettingsReader({});
    settings.url('ISSUER');
    settings.optionalText('NAME');
    settings.renewableFile('CA_FILE');
    settings.port('PORT', 8080);
    settings.parsed('AGE', '8d', Number);
    expect([...settings.descriptors]).toEqual([
      ['ISSUER', { type: 'url', isRequired: true }],
      ['NAME', { type: 'text', isRequired: false }],
      ['CA_FILE', { type: 'file', isRequired: false }],
      ['PORT', { type: 'integer', fallback: 8080, isRequired: false, min: 0, max: 65_535 }],
      ['AGE', { type: 'parsed', fallback: '8d', isRequired: false }],
    ]);
  });

  it('for development are refused in production', () => {
    const read = (settings: SettingsReader): boolean => {
      const isLax = settings.flag('LAX', false);
      settings.refuseInProduction(isLax, 'LAX must not be set with NODE_ENV=production');
      return isLax;
    };
    expect(readSettings({ LAX: 'true', NODE_ENV: 'development' }, read)).toBe(true);
    expect(readSettings({ NODE_ENV: 'production' }, read)).toBe(false);
    expect(faultsOf({ LAX: 'true', NODE_ENV: 'production' }, read)[0]).toContain('NODE_ENV=production');
  });
});
