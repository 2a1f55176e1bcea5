// verify → store the id durably, refusing repeats → 2xx → ask for the real state → act. Run: node receiver.ts
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { DatabaseSync } from 'node:sqlite';
import { NotificationError, createClient, createNotificationMiddleware } from '@webhooks/client';
import type { Notification } from '@webhooks/client';

const env = (name: string): string => process.env[name] ?? '';
const client = createClient({
  baseUrl: env('WEBHOOKS_QUERY_URL') || env('WEBHOOKS_URL'),
  credentials: {
    tokenEndpoint: env('TOKEN_ENDPOINT'),
    clientId: env('CLIENT_ID'),
    clientSecret: env('CLIENT_SECRET'),
  },
});
const verify = createNotificationMiddleware({ secrets: env('WEBHOOK_SECRET').split(' ') });

const inbox = new DatabaseSync(env('INBOX'));
inbox.exec('CREATE TABLE IF NOT EXISTS inbox (id TEXT PRIMARY KEY, payment TEXT, done INTEGER DEFAULT 0)');
const store = inbox.prepare('INSERT OR IGNORE INTO inbox (id, payment) VALUES (?, ?)');
const waiting = inbox.prepare('SELECT id, payment FROM inbox WHERE done = 0 ORDER BY rowid');
const finish = inbox.prepare('UPDATE inbox SET done = 1 WHERE id = ?');

const complain = (error: unknown): void => void process.stderr.write(`${String(error)}\n`);

/** After a crash what is stored and not done is done again: acting twice for one id must do no harm. */
async function act(id: string, payment: string): Promise<void> {
  const { amount, reversals } = await client.transaction(payment);
  process.stdout.write(`acted ${id}: ${amount ?? '?'}, reversals: ${reversals.length}\n`);
  finish.run(id);
}

/** A payment does not wait for one before it whose state cannot be read. */
async function work(): Promise<void> {
  isQueued = false;
  for (const { id, payment } of waiting.all()) await act(String(id), String(payment)).catch(complain);
}
let isQueued = false;
let working = Promise.resolve();
function wake(): void {
  if (!isQueued) working = working.then(work).catch(complain);
  isQueued = true;
}

/** A test has no payment behind it, and neither may a type that is newer than this program: nothing is stored. */
function keep({ id, data }: Notification): 'test' | 'ignored' | 'stored' | 'repeated' {
  if (id.startsWith('evt_test_')) return 'test';
  if (!data.endToEndId) return 'ignored';
  return store.run(id, data.endToEndId).changes === 1 ? 'stored' : 'repeated';
}

const tls = { cert: readFileSync(env('CERT_FILE')), key: readFileSync(env('KEY_FILE')) };
const server = createServer(tls, (request: Parameters<typeof verify>[0], response) => {
  verify(request, response, (error) => {
    const { notification } = request;
    if (notification) {
      process.stdout.write(`${keep(notification)} ${notification.id}\n`);
      response.writeHead(204).end();
      wake();
    } else response.writeHead(error instanceof NotificationError ? error.status : 500).end();
  });
});
server.listen(Number(env('PORT')), wake);
setInterval(wake, 5_000);
