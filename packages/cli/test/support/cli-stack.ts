import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emptyTestEngines, startStack } from '@webhooks/local';
import type { Stack } from '@webhooks/local';
import { eventually, startEndpoint } from '@webhooks/testkit';
import type { Endpoint } from '@webhooks/testkit';
import { emptyHome, run } from './run-webhooks.js';
import type { Environment } from './run-webhooks.js';

export interface CliStack {
  readonly stack: Stack;
  /** A receiver that deliveries trust. */
  readonly endpoint: Endpoint;
  /** What logs the program in. */
  readonly env: Environment;
  readonly stop: () => Promise<void>;
}

/** All services on free ports, and a receiver. */
export async function startCliStack(): Promise<CliStack> {
  const dataDir = mkdtempSync(join(tmpdir(), 'cli-stack-'));
  const engines = await emptyTestEngines();
  const stack = await startStack({ ...engines, dataDir, fixedPorts: false, log: () => undefined });
  const { certPem, keyPem } = await stack.authority.issue(['localhost']);
  const endpoint = await startEndpoint({ certPem, keyPem });
  const { configApi, ingest, queryApi, tokenEndpoint } = stack.description();
  const { clientId, clientSecret } = stack.clientOf('acme');
  const env = {
    ...emptyHome(),
    WEBHOOKS_URL: configApi,
    WEBHOOKS_INGEST_URL: ingest,
    WEBHOOKS_QUERY_URL: queryApi ?? '',
    WEBHOOKS_TOKEN_ENDPOINT: tokenEndpoint,
    WEBHOOKS_CLIENT_ID: clientId,
    WEBHOOKS_CLIENT_SECRET: clientSecret,
  };
  const stop = async (): Promise<void> => {
    await endpoint.close();
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { stack, endpoint, env, stop };
}

/** The result of a command that prints an object. Throws when it fails. */
export async function runJson({ env }: CliStack, args: readonly string[]): Promise<Record<string, unknown>> {
  const { out, err, code } = await run([...args, '--json'], env);
  if (code !== 0) throw new Error(`${args.join(' ')}: ${err}`);
  return JSON.parse(out) as Record<string, unknown>;
}

/** What there is to look at. */
export interface Made {
  readonly ref: string;
  readonly endToEndId: string;
  readonly eventId: string;
  readonly deliveryId: string;
  /** A redelivery of many. */
  readonly job: string;
  /** Declares this webhook and another one. */
  readonly file: string;
  /** Says what a delivery policy has. */
  readonly policy: string;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A webhook, an event that was delivered to it, and a redelivery. */
export async function makeDelivery(cli: CliStack): Promise<Made> {
  const { url } = cli.endpoint;
  const webhook = await runJson(cli, ['create', '--event-type', 'PIX_DYNAMIC_PAID', '--endpoint-url', url]);
  const { out } = await run(['trigger', 'PIX_DYNAMIC_PAID', '--json'], cli.env);
  const [event] = JSON.parse(out) as { id: string; data: { endToEndId: string } }[];
  const endToEndId = event?.data.endToEndId ?? '';
  const find = async (): Promise<string | false> => {
    const found = (await runJson(cli, ['find', endToEndId])) as {
      deliveries: { deliveryId: string; status: string }[];
    };
    return found.deliveries.find(({ status }) => status === 'delivered')?.deliveryId ?? false;
  };
  const deliveryId = await eventually(find, { timeoutMs: 30_000, intervalMs: 300 });
  const range = ['--status', 'delivered', '--from', '2026-01-01', '--yes'];
  const job = await runJson(cli, ['redeliveries', 'create', ...range]);
  const file = join(cli.env['XDG_CONFIG_HOME'] ?? '', 'webhooks.yaml');
  const declared = ['PIX_DYNAMIC_PAID', 'PIX_STATIC'].map(
    (type) => `  - eventType: ${type}\n    endpointUrl: ${url}\n`,
  );
  writeFileSync(file, `webhooks:\n${declared.join('')}`);
  const policy = `${file}.policy`;
  writeFileSync(policy, 'timeoutMs: 20000\nretryDelays: [30s, 5m]\nheaders:\n  X-Key: 0123456789abcdef\n');
  return {
    ref: text(webhook['ref']),
    endToEndId,
    eventId: event?.id ?? '',
    deliveryId,
    job: text(job['id']),
    ...{ file, policy },
  };
}
