import type { StackDescription } from '@webhooks/stack';
import type { FeedLine, HookAccount, Ledger, Print, ServiceAddresses } from '@webhooks/ledger';

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

function retryColumn({ retryWaits }: HookAccount): string {
  if (retryWaits.length === 0) return '–';
  return `${seconds(Math.min(...retryWaits.slice(0, 100_000)))} – ${seconds(Math.max(...retryWaits.slice(0, 100_000)))}`;
}

const HEADER = ['endpoint', 'expected', 'delivered', 'duplicates', 'refused', 'second attempt after'];

/** The closing table: what each endpoint was owed and what it wrote down. */
export function showTable(ledger: Ledger, print: Print): void {
  const rows = ledger.accounts.map((account) => [
    account.hook.path,
    String(account.expected),
    String(account.delivered),
    String(account.duplicates),
    String(account.refused),
    retryColumn(account),
  ]);
  const all = [HEADER, ...rows];
  const widths = HEADER.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ');
  print('');
  print(line(HEADER));
  print(widths.map((width) => '─'.repeat(width)).join('  '));
  for (const row of rows) print(line(row));
  print('');
}

const SHOWN_FAULTS = 5;

/** Says which lines of the events file are no events, and why; the services will refuse them. */
export function showFaults(lines: readonly FeedLine[], print: Print): void {
  const faults = lines.flatMap(({ fault }, index) =>
    fault === undefined ? [] : [`event ${index + 1}: ${fault}`],
  );
  if (faults.length === 0) return;
  print(`· ${faults.length} of ${lines.length} lines are no events and will be rejected:`);
  for (const fault of faults.slice(0, SHOWN_FAULTS)) print(`    ${fault}`);
  if (faults.length > SHOWN_FAULTS) print(`    … and ${faults.length - SHOWN_FAULTS} more`);
}

/** Addresses of the running stack, and three lines to paste into another terminal. */
export function showAddresses(
  stack: StackDescription,
  receiver: string,
  dataDir: string,
  print: Print,
): void {
  print('The stack stays up; stop it with Ctrl-C.');
  print(`  config-api ${stack.configApi} · ingest ${stack.ingest} · query-api ${stack.queryApi ?? '–'}`);
  print(`  tokens ${stack.tokenEndpoint}`);
  print(`  Kafka ${stack.kafkaBrokers.join(',')} · MongoDB ${stack.mongodbUri}`);
  print(
    `  admin (/livez /readyz /metrics; delivery-worker also /endpoints) ${Object.entries(stack.admin)
      .map(([name, url]) => `${name} ${url}`)
      .join(' · ')}`,
  );
  print(`  receiver ${receiver} (answers 200 at every path and shows what arrives)`);
  print(`  addresses, clients and process ids: ${dataDir}/stack.json · logs: ${dataDir}/logs/`);
  showCommands(stack, receiver, print);
}

/** Get a token, register a webhook, send an event: three lines that can be pasted. */
export function showCommands(
  stack: ServiceAddresses & Pick<StackDescription, 'clients'>,
  receiver: string,
  print: Print,
): void {
  const [client] = stack.clients;
  if (!client) throw new Error('the stack has no client');
  const json = `-H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json'`;
  const webhook = { eventType: 'PIX_STATIC', endpointUrl: `${receiver}/mine` };
  const event = {
    eventType: 'PIX_STATIC',
    occurredAt: new Date().toISOString(),
    data: {
      endToEndId: `E12345678202611211403${Math.random().toString(36).slice(2).padEnd(11, '0').slice(0, 11)}`,
      amount: '42.00',
    },
  };
  print('');
  print('Try it from another terminal: get a token, register a webhook, send an event.');
  print('');
  print(
    `TOKEN=$(curl -s ${stack.tokenEndpoint} -u '${client.clientId}:${client.clientSecret}' -d grant_type=client_credentials | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
  );
  print(`curl -s ${stack.configApi}/integration/v1/webhooks ${json} -d '${JSON.stringify(webhook)}'; echo`);
  print(`curl -s ${stack.ingest}/integration/v1/events ${json} -d '${JSON.stringify(event)}'; echo`);
  print('');
}
