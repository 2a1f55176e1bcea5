import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startIssuer } from '@webhooks/local';
import { emptyHome, run, runProcess } from './support/run-webhooks.js';
import type { Environment } from './support/run-webhooks.js';

const fileOf = (home: Environment): string =>
  join(home['XDG_CONFIG_HOME'] ?? '', 'webhooks', 'profiles.json');

/** An issuer whose client logs in, and the options for it. */
async function openLogin(clientSecret = 's3cret') {
  const clients = [{ clientId: 'shop', clientSecret, tenantId: 'acme', scopes: ['webhook.read'] }];
  const issuer = await startIssuer({ audience: 'urn:webhooks', clients });
  const options = ['--url', 'http://127.0.0.1:1/integration/v1', '--token-endpoint', issuer.tokenEndpoint];
  return { issuer, options: [...options, '--client-id', 'shop', '--client-secret', clientSecret] };
}

test.each([
  [[], /a command is missing/],
  [['nonsense'], /Unknown argument: nonsense\n→ see webhooks --help/],
  [['lsit'], /Did you mean list\?/],
  [['deliveries', 'sohw'], /Did you mean show\?\n→ see webhooks deliveries --help/],
  [['list', '--typo'], /Unknown argument: typo\n→ see webhooks list --help/],
  [['show'], /Not enough non-option arguments.*\n→ see webhooks show --help/],
  [['listen', '--event-type', 'PIX_OUT', '--event-type', 'PIX_STATIC'], /--event-type is given twice/],
  [['deliveries', 'list', '--ref', 'a', '--ref=b'], /--ref is given twice/],
  [['listen', '--secret', 'whsec_c2hvcnQ='], /a signing secret is whsec_ and the base64 of 24 to 64/],
  [['listen', '--forward', 'ftp://localhost/'], /is no address; write 3000/],
  [['policy', 'REF', '-f', '/none/policy.yaml'], /\/none\/policy\.yaml: no such file or directory/],
  [['rotate-secret', 'REF', '--secret-file', '/'], /^\/: illegal operation on a directory/],
  [['deliveries'], /list, show or redeliver\?/],
  [['trigger', 'PIX_UNKNOWN'], /Invalid values/],
  [['deliveries', 'list', '--from', 'yesterdayish'], /yesterdayish is no time/],
  [['payments', 'list', '--amount', '1.234'], /1\.234 is no amount; write 87,30/],
  [['login'], /missing: --url, --token-endpoint, --client-id, --client-secret/],
  [['login', '--url', 'webhooks.example.com'], /url must begin with https:/],
  [['login', '--token-endpoint', 'http://issuer.example.com'], /tokenEndpoint must begin with https:/],
])('webhooks %j is a mistake of usage: 2, and a way on', async (args, says) => {
  const { code, out, err } = await run(args, emptyHome());
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(says);
  expect(err).toMatch(/\n→ /);
});

test('--version tells the version of the package', async () => {
  const manifest = readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  expect((await runProcess(['--version'], emptyHome())).out).toBe(`${version}\n`);
});

test('whoever is not logged in is told how: 3', async () => {
  const { code, err } = await runProcess(['list'], emptyHome());
  expect(code).toBe(3);
  expect(err).toMatch(/nobody is logged in.*\n→ webhooks login .*WEBHOOKS_CLIENT_SECRET/);
});

test('login keeps what was given, for its owner only, and other commands use it', async () => {
  const home = emptyHome();
  const { issuer, options } = await openLogin();
  const { code, out } = await run(['login', ...options], home);
  const list = await run(['list'], home);
  await issuer.stop();
  expect(code).toBe(0);
  expect(out).not.toContain('s3cret');
  expect(out).toMatch(/tenant +acme/);
  expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(fileOf(home), 'utf8'))).toMatchObject({
    current: 'default',
    profiles: { default: { url: 'http://127.0.0.1:1', clientId: 'shop' } },
  });
  expect({ code: list.code, err: list.err }).toMatchObject({
    code: 5,
    err: expect.stringContaining('127.0.0.1:1') as string,
  });
});

test('each profile is kept beside the others, and --profile chooses', async () => {
  const home = emptyHome();
  const { issuer, options } = await openLogin();
  await run(['login', ...options, '--profile', 'production'], home);
  await run(['login', ...options, '--profile', 'test'], home);
  await issuer.stop();
  const stored = JSON.parse(readFileSync(fileOf(home), 'utf8')) as { current: string; profiles: object };
  expect([stored.current, Object.keys(stored.profiles)]).toEqual(['test', ['production', 'test']]);
  expect((await run(['list', '--profile', 'production'], home)).code).toBe(5);
  expect((await run(['list', '--profile', 'other'], home)).code).toBe(3);
});

test('login takes a secret that begins with a hyphen', async () => {
  const { issuer, options } = await openLogin('-s3cret');
  const { code, err } = await run(['login', ...options], emptyHome());
  await issuer.stop();
  expect(code).toBe(0);
  expect(err).toMatch(
    /^Warning: nothing of ours responds at http:\/\/127\.0\.0\.1:1: webhooks login --url URL\n/,
  );
  expect(err).toMatch(/Profile default is current now; others: --profile, WEBHOOKS_PROFILE/);
});

test('wrong credentials are not kept', async () => {
  const home = emptyHome();
  const { issuer, options } = await openLogin();
  const { code } = await run(['login', ...options.slice(0, -1), 'wrong'], home);
  await issuer.stop();
  expect(code).toBe(3);
  expect((await run(['list'], home)).err).toContain('nobody is logged in');
});

test('a damaged file of profiles is named', async () => {
  const home = emptyHome();
  mkdirSync(join(fileOf(home), '..'));
  writeFileSync(fileOf(home), '{');
  const { code, err } = await run(['list'], home);
  expect([code, err]).toEqual([2, expect.stringContaining('profiles.json cannot be read as JSON')]);
});

test('trigger posts to another machine only with --real-events', async () => {
  const { issuer, options } = await openLogin();
  const home = emptyHome();
  await run(['login', ...options, '--ingest-url', 'https://webhooks.example.com'], home);
  const refused = await run(['trigger', 'PIX_STATIC'], home);
  await issuer.stop();
  expect(refused.code).toBe(2);
  expect(refused.err).toMatch(/is not this machine.*\n→ use --real-events/);
});

const LOCAL = [
  '3000',
  '3000/pix',
  'localhost:3000/x',
  '127.0.0.1:3000',
  '[::1]:3000',
  'http://a.localhost:3000',
];

test.each([...LOCAL, 'https://localhost:3000', 'host.docker.internal:3000'])(
  'listen forwards to %s',
  async (address) => {
    const { err } = await run(['listen', '--forward', address], emptyHome());
    expect(err).toContain('nobody is logged in');
  },
);

test.each(['https://shop.example.com/hook', '192.168.1.5:3000', 'localhost.example.com'])(
  'listen forwards to %s with --allow-remote only',
  async (address) => {
    const args = ['listen', '--forward', address];
    const refused = await run(args, emptyHome());
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('is not on this machine')]);
    expect((await run([...args, '--allow-remote'], emptyHome())).err).toContain('nobody is logged in');
  },
);

test('the file of profiles stays the link that it is', async () => {
  const home = emptyHome();
  const { issuer, options } = await openLogin();
  const target = join(emptyHome()['XDG_CONFIG_HOME'] ?? '', 'kept.json');
  writeFileSync(target, '{}');
  mkdirSync(join(fileOf(home), '..'));
  symlinkSync(target, fileOf(home));
  await run(['login', ...options], home);
  await issuer.stop();
  expect(readlinkSync(fileOf(home))).toBe(target);
  expect(readFileSync(target, 'utf8')).toContain('"clientId": "shop"');
});

// Only root can run a program as another user.
(process.getuid?.() === 0 ? test : test.skip)(
  'a user id without an entry in passwd has a profile, too',
  async () => {
    const program = join(import.meta.dirname, '..', 'dist', 'src', 'main.js');
    const { issuer, options } = await openLogin();
    const variables = ['URL', 'TOKEN_ENDPOINT', 'CLIENT_ID', 'CLIENT_SECRET'].map((name, index) => [
      `WEBHOOKS_${name}`,
      options[2 * index + 1],
    ]);
    const env = Object.fromEntries(variables) as NodeJS.ProcessEnv;
    const child = promisify(execFile)(process.execPath, [program, 'list'], { uid: 54_321, env });
    const { stderr } = await child.catch((error: unknown) => error as { stderr: string });
    await issuer.stop();
    expect(stderr).toContain('no response from http://127.0.0.1:1');
  },
);

test('colour comes with FORCE_COLOR, and goes with NO_COLOR and where no terminal is', async () => {
  const colour = String.fromCharCode(27);
  const args = ['doctor', 'http://shop.example.com'];
  const home = emptyHome();
  expect((await runProcess(args, { ...home, NO_COLOR: '', FORCE_COLOR: '1' })).out).toContain(colour);
  expect((await runProcess(args, home)).out).not.toContain(colour);
  expect((await runProcess(args, { ...home, NO_COLOR: '' })).out).not.toContain(colour);
});

test.each(['bash', 'zsh', 'fish'])('completion prints a script for %s', async (shell) => {
  const { code, out } = await run(['completion', shell], emptyHome());
  expect(code).toBe(0);
  expect(out).toContain('webhooks --get-yargs-completions');
  const machine = await run(['completion', shell, '--json'], emptyHome());
  expect(JSON.parse(machine.out)).toEqual({ script: out.trimEnd() });
});

test('bash completes a verb, an option and an event type by that script', async () => {
  const bin = join(emptyHome()['XDG_CONFIG_HOME'] ?? '', 'bin');
  mkdirSync(bin);
  const program = join(import.meta.dirname, '..', 'dist', 'src', 'main.js');
  writeFileSync(join(bin, 'webhooks'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`, {
    mode: 0o755,
  });
  const complete = async (...line: string[]): Promise<string> => {
    const words = line.map((word) => `'${word}'`).join(' ');
    const script = `source <(webhooks completion bash); COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _webhooks; echo "\${COMPREPLY[@]}"`;
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, SHELL: '/bin/bash' };
    return (await promisify(execFile)('bash', ['-c', script], { env })).stdout;
  };
  expect(await complete('webhooks', 'rot')).toContain('rotate-secret');
  expect(await complete('webhooks', 'trigger', 'PIX_')).toContain('PIX_DYNAMIC_PAID');
  expect(await complete('webhooks', 'listen', '--for')).toContain('--forward');
});
