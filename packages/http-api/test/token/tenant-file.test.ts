import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Closers } from '@webhooks/runtime';
import { eventually } from '@webhooks/testkit';
import { readTenantFile, watchTenantFile } from '../../src/token/tenant-file.js';

const dir = mkdtempSync(join(tmpdir(), 'tenants-'));
const file = join(dir, 'tenants.json');
afterAll(() => rmSync(dir, { recursive: true }));

/** Replaces the file at once, as a mounted secret is. */
function write(text: string | Buffer): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

it('the tenants of clients are renewed when the file changes, and a broken one leaves the last good one', async () => {
  const lines: string[] = [];
  const note = (message: string): void => void lines.push(message);
  const log = { debug: note, info: note, warn: note, error: note };
  const closers = new Closers();
  write('{ "client-1": "acme" }');
  const onClose: Parameters<typeof watchTenantFile>[1]['onClose'] = (name, close) => closers.add(name, close);
  const tenantOf = watchTenantFile(readTenantFile(file), { log, onClose }, 10);
  expect([tenantOf('client-1'), tenantOf('client-2'), tenantOf('constructor')]).toEqual([
    'acme',
    undefined,
    undefined,
  ]);
  write('{ "client-1": "acme", "client-2": "globex" }');
  await eventually(() => tenantOf('client-2') === 'globex');
  write('{ "client-2": ');
  await eventually(() => lines.includes('reading TENANT_BY_CLIENT_FILE failed; retrying'));
  expect([tenantOf('client-1'), tenantOf('client-2')]).toEqual(['acme', 'globex']);
  write('{ "client-2": "initech" }');
  await eventually(() => tenantOf('client-2') === 'initech');
  expect(tenantOf('client-1')).toBeUndefined();
  expect(lines.filter((line) => line.endsWith('failed; retrying'))).toHaveLength(1);
  await closers.closeAll(log, 1_000);
});

it.each([
  ['is no JSON', 'client-1: acme', /expected a JSON object of client ids and tenants/],
  ['names a client twice', '{ "a": "acme", "a": "globex" }', /expected a JSON object/],
  ['names no tenant', '{ "a": "acme", "b": "a/b" }', /expected the tenant of the client 'b'/],
  ['has a list of tenants', '{ "a": ["acme"] }', /expected the tenant of the client 'a'/],
  ['is larger than 1 MiB', Buffer.alloc(1_048_577, ' '), /expected at most 1048576 bytes/],
])('a file of tenants that %s is refused', (_what, text, fault) => {
  write(text);
  expect(() => readTenantFile(file)).toThrow(fault);
});
