import type { StackDescription } from '@webhooks/local';
import { align, paint, print } from '@webhooks/testkit/account';
import type { EndpointAccount, FeedLine, DeliveryAccount } from '@webhooks/testkit/account';

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

function retryColumn({ retryWaits }: EndpointAccount): string {
  const waits = retryWaits.slice(0, 100_000);
  return waits.length === 0 ? '–' : `${seconds(Math.min(...waits))} – ${seconds(Math.max(...waits))}`;
}

const HEADER = ['endpoint', 'expected', 'delivered', 'duplicates', 'refused', 'second attempt after'];

/** Prints the table at the end: what each endpoint had to receive and what it received. */
export function showTable({ accounts }: Pick<DeliveryAccount, 'accounts'>): void {
  const rows = accounts.map((account) => {
    const { endpoint, owed, arrivals, duplicates, refused } = account;
    const counts = [owed, arrivals.size, duplicates, refused].map(String);
    return [endpoint.path, ...counts, retryColumn(account)];
  });
  const [head = '', ...lines] = align([HEADER, ...rows], [1, 2, 3, 4, 5]);
  print('');
  print(paint('dim', head));
  print('─'.repeat(head.length));
  for (const [index, { owed, arrivals }] of accounts.entries())
    print(paint(arrivals.size === owed ? 'green' : 'red', lines[index] ?? ''));
  print('');
}

/** Returns the line that says why a run failed, and where its data is. */
export function unbalancedLine(accepted: number, dataDir: string): string {
  const fault =
    'the delivery account does not balance: a delivery is missing or misdirected, or a bad line was not rejected';
  return `· ${accepted === 0 ? 'no event was accepted' : fault}; everything is kept in ${dataDir}`;
}

const SHOWN_FAULTS = 5;

/** Prints which lines of the events file are no events, and why. The services refuse them. */
export function showFaults(lines: readonly FeedLine[]): void {
  const faults = lines.flatMap(({ fault }, index) =>
    fault === undefined ? [] : [`event ${index + 1}: ${fault}`],
  );
  if (faults.length === 0) return;
  print(`· ${faults.length} of ${lines.length} lines are no valid events for ingest:`);
  for (const fault of faults.slice(0, SHOWN_FAULTS)) print(`    ${fault}`);
  if (faults.length > SHOWN_FAULTS) print(`    … and ${faults.length - SHOWN_FAULTS} more`);
}

/** Prints the addresses of the running stack. */
export function showAddresses(stack: StackDescription, receiver: string, dataDir: string): void {
  print('The stack is up. Stop it with Ctrl-C.');
  print(`  config-api ${stack.configApi} · ingest ${stack.ingest} · query-api ${stack.queryApi ?? '–'}`);
  if (stack.console !== null)
    print(`  console ${stack.console} · sign in as Ana, Bruno or Olga, without a password`);
  print(`  token issuer ${stack.tokenEndpoint} · Kafka ${stack.kafkaBrokers.join(',')}`);
  print(`  receiver ${receiver} responds 200 at every path`);
  print(`  all addresses: ${dataDir}/env.sh · processes: ${dataDir}/stack.json · logs: ${dataDir}/logs/`);
  print('');
}

/** Prints commands to paste. `first` sets the variables; then a webhook is registered and an event sent. */
export function showCommands(first: string): void {
  const call = (path: string, body: string): string =>
    `curl -s "${path}" -H "Authorization: Bearer $(token)" -H 'Content-Type: application/json' -d "${body.replaceAll('"', '\\"')}"; echo`;
  const webhook = '{"eventType":"PIX_STATIC","endpointUrl":"$RECEIVER/mine"}';
  const event = `{"eventType":"PIX_STATIC","occurredAt":"${new Date().toISOString()}","data":{"endToEndId":"E12345678202611241403a1b2c3d4e5F","amount":"42.00"}}`;
  print('Try it from another terminal:');
  print('');
  print(first);
  print(call('$CONFIG_API/webhooks', webhook));
  print(call('$INGEST/events', event));
  print('');
}
