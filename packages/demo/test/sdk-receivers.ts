import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Client } from '@webhooks/client';
import { freePort } from '@webhooks/local';
import { buildEvent, eventually } from '@webhooks/testkit';
import type { TestStack } from './test-stack.js';
import { has, needs } from './tool.js';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'client', 'examples');
/** A delivery that a fault of ours meets twice waits 30 s and 60 s. */
const LONG = { timeoutMs: 120_000 };
/** Nothing here should take longer, milliseconds; what does is told. */
const SLOW_MS = 20_000;
const NODE_FLAGS = ['--disable-warning=ExperimentalWarning'];

let running: TestStack;
const children: ChildProcess[] = [];

/** An example receiver as a process, and the lines that it printed since the test began. */
class Receiver {
  readonly lines: string[] = [];
  private child: ChildProcess | undefined;

  private readonly command: readonly string[];
  private readonly variables: Readonly<Record<string, string>>;

  constructor(command: readonly string[], variables: Readonly<Record<string, string>>) {
    this.command = command;
    this.variables = variables;
  }

  start(): void {
    const [program = '', ...args] = this.command;
    const env = { ...process.env, ...this.variables };
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    children.push(child);
    createInterface({ input: child.stdout }).on('line', (line) => this.lines.push(line));
    this.child = child;
  }

  async kill(): Promise<void> {
    const ended = this.child && once(this.child, 'exit');
    this.child?.kill('SIGKILL');
    await ended;
  }

  countOf(line: string): number {
    return this.lines.filter((printed) => printed.startsWith(line)).length;
  }
}

type Setting = Awaited<ReturnType<typeof setUp>>;

async function setUp(name: string, command: readonly string[]) {
  const { tls, queryApi, tokenEndpoint } = running.stack.description();
  const { clientId, clientSecret } = running.stack.clientOf('acme');
  const client = running.clientOf('acme');
  const port = await freePort();
  const endpointUrl = `https://localhost:${port}/`;
  const { ref } = await client.register({ eventType: 'PIX_STATIC', endpointUrl });
  const { secret } = await client.rotateSecret(ref);
  const receiver = new Receiver(command, {
    WEBHOOKS_QUERY_URL: queryApi ?? '',
    TOKEN_ENDPOINT: tokenEndpoint,
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret,
    WEBHOOK_SECRET: secret,
    CERT_FILE: tls.certFile,
    KEY_FILE: tls.keyFile,
    PORT: String(port),
    INBOX: join(running.dataDir, `${name}.sqlite`),
  });
  const post = async (): Promise<{ id: string; again: () => Promise<string>; amount: string }> => {
    const { id: _, ...event } = buildEvent({ tenantId: 'acme', eventType: 'PIX_STATIC' });
    const send = () => client.postEvent(event);
    return { id: await send(), again: send, amount: event.data.amount };
  };
  return { client, ref, receiver, post };
}

/** What is known of the deliveries of a webhook, and the newest lines of the worker's log, for the text of a failure. */
async function evidenceOf(client: Client, ref: string): Promise<string> {
  const { data } = await client.deliveries({ ref, limit: 5 });
  const log = readFileSync(join(running.dataDir, 'logs', 'delivery-worker.log'), 'utf8');
  return [...data.map((delivery) => JSON.stringify(delivery)), ...log.trimEnd().split('\n').slice(-20)].join(
    '\n',
  );
}

async function keepsItsPromises(name: string, command: readonly string[]): Promise<void> {
  const setting = await setUp(name, command);
  await useReceiver(name, setting).catch(async (cause: unknown) => {
    const { client, ref } = setting;
    throw new Error(`${String(cause)}\n${await evidenceOf(client, ref)}`, { cause });
  });
}

async function useReceiver(name: string, { client, ref, receiver, post }: Setting): Promise<void> {
  /** At least so often: a response that a crash swallowed is followed by a repeat. */
  const printed = async (line: string, count = 1) => {
    const began = performance.now();
    await eventually(() => receiver.countOf(line) >= count, {
      ...LONG,
      message: `waiting for '${line}' of ${name}`,
    });
    const tookMs = Math.round(performance.now() - began);
    if (tookMs > SLOW_MS)
      process.stderr.write(`${line}: after ${tookMs} ms\n${await evidenceOf(client, ref)}\n`);
  };
  receiver.start();
  // Until the registration and its secret are in force, events may arrive unsigned or not at all.
  await eventually(
    async () => {
      await post();
      return receiver.countOf('acted') > 0;
    },
    { ...LONG, intervalMs: 250 },
  );
  const first = await post();
  await printed(`acted ${first.id}: ${first.amount}, reversals: 0`);

  // A repeat is taken and not acted on, after a crash neither.
  await first.again();
  await printed(`repeated ${first.id}`);
  await receiver.kill();
  receiver.start();
  // A slow start can outlast all retries of one delivery.
  await eventually(
    async () => {
      await first.again();
      return receiver.countOf(`repeated ${first.id}`) >= 2;
    },
    { ...LONG, intervalMs: 250 },
  );

  // Nothing is asked about a test.
  const sent = await client.sendTest(ref);
  await printed(`test ${sent.eventId}`);

  // It crashes after its 2xx, before it could ask for the real state: it acts when it is back.
  await running.stack.fleet.stop('query-api');
  const second = await post();
  await printed(`stored ${second.id}`);
  await receiver.kill();
  expect(receiver.countOf(`acted ${second.id}`)).toBe(0);
  await running.stack.fleet.start('query-api');
  receiver.start();
  await printed(`acted ${second.id}: ${second.amount}`);
  for (const { id } of [first, second]) expect(receiver.countOf(`acted ${id}`)).toBe(1);

  // What another secret signs is refused, as soon as that is in force.
  await client.rotateSecret(ref, { expirePrevious: true });
  const posted = new Set<string>();
  const refused = await eventually(
    async () => {
      posted.add((await post()).id);
      const { data } = await client.deliveries({ ref });
      // A repeat of an earlier event can be refused, too.
      return data.find(({ eventId, lastStatus }) => lastStatus === 401 && posted.has(eventId)) ?? false;
    },
    { ...LONG, intervalMs: 500 },
  );
  expect(receiver.countOf(`stored ${refused.eventId}`)).toBe(0);
  const { eventType, endpointUrl } = await client.get(ref);
  await client.update({ ref, eventType, endpointUrl, enabled: false });
}

/** Tests of a stack that runs when they do, with retries within seconds. */
export function testExampleReceivers(runningStack: () => TestStack): void {
  beforeAll(() => {
    running = runningStack();
  });
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  describe('an example receiver verifies, stores, responds, queries the real state and acts once', () => {
    it(
      'in TypeScript',
      () => keepsItsPromises('typescript', [process.execPath, ...NODE_FLAGS, join(EXAMPLES, 'receiver.ts')]),
      600_000,
    );

    needs(
      'python3 (3.9 or newer, with ssl and sqlite3)',
      has('python3', '-c', 'import ssl, sqlite3; "".removeprefix("")'),
    )('in Python', () => keepsItsPromises('python', ['python3', join(EXAMPLES, 'receiver.py')]), 600_000);
  });
}
