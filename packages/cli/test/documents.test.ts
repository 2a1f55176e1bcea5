import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@webhooks/local';
import { eventually } from '@webhooks/testkit';
import { signedHeaders } from '../src/post.js';
import { emptyHome, run } from './support/run-webhooks.js';

const PACKAGE = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(PACKAGE, file), 'utf8');
const GUIDES = globSync('guides/*/*.md', { cwd: PACKAGE }).sort();

/** Every `webhooks VERB [VERB]` that stands in code. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/(?<=`|^|=\S+ )webhooks ((?:(?:deliveries|redeliveries) )?[a-z][a-z-]+)/gm)].map(
    ([, words = '']) => words,
  );

test('the guides are there in both languages, each of 80 lines at most', () => {
  expect(GUIDES.map((file) => file.split('/')[1])).toEqual([
    'en',
    'en',
    'en',
    'en',
    'en',
    'en',
    'pt',
    'pt',
    'pt',
    'pt',
    'pt',
    'pt',
  ]);
  for (const file of GUIDES)
    expect([file, read(file).trimEnd().split('\n').length <= 80]).toEqual([file, true]);
});

test('every command that a guide names exists', async () => {
  const named = [...new Set(GUIDES.flatMap((file) => commandsIn(read(file))))];
  expect(named.length).toBeGreaterThan(10);
  const help = await Promise.all(named.map((words) => run([...words.split(' '), '--help'], emptyHome())));
  const unknown = named.filter((words, index) => !help[index]?.out.startsWith(`webhooks ${words}`));
  expect(unknown).toEqual([]);
});

test('both languages give the same commands', () => {
  const of = (language: string): string[] =>
    GUIDES.filter((file) => file.includes(`/${language}/`))
      .flatMap((file) => commandsIn(read(file)))
      .sort();
  expect(of('pt')).toEqual(of('en'));
});

test('every verb of the help stands in the README', async () => {
  const { out } = await run(['--help'], emptyHome());
  const verbs = [...out.matchAll(/^ {2}webhooks ([a-z-]+)/gm)].map(([, verb = '']) => verb);
  expect(verbs.length).toBeGreaterThan(12);
  const table = read('README.md').split('## Commands')[1]?.split('\n## ')[0] ?? '';
  expect(verbs.filter((verb) => !table.includes(verb))).toEqual([]);
});

test.each([
  ['guides/en/first-webhook.md', 'PIX_DYNAMIC_PAID 1.00'],
  ['guides/pt/primeiro-webhook.md', 'PIX_DYNAMIC_PAID 1.00'],
])('the receiver of %s runs, verifies and deduplicates', async (file, says) => {
  const port = await freePort();
  const source = (/```js\n(.*?)```/s.exec(read(file))?.[1] ?? '').replace('3000', String(port));
  const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    // The SDK's folder, where the library is installed that the guide installs.
    cwd: join(PACKAGE, '..', 'client'),
    env: { SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const body = JSON.stringify({
    id: 'evt_1',
    eventType: 'PIX_DYNAMIC_PAID',
    data: { amount: '1.00', endToEndId: 'E1' },
  });
  const post = async (signedWith: string): Promise<number> => {
    const headers = signedHeaders({ id: 'evt_1', body, secret: signedWith, vendor: 'Webhooks' });
    return (await fetch(`http://localhost:${port}/pix`, { method: 'POST', headers, body })).status;
  };
  const first = await eventually(() => post(secret), { timeoutMs: 20_000, intervalMs: 100 });
  const others = [await post(secret), await post(`whsec_${Buffer.alloc(32, 4).toString('base64')}`)];
  const closed = once(child, 'close');
  child.kill();
  await closed;
  expect([first, ...others]).toEqual([200, 200, 401]);
  expect(said.trim()).toBe(`${says} E1`);
});
