// verify → store the id durably, refusing repeats → 2xx → ask for the real state → act. Run: node receiver.ts
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { DatabaseSync } from 'node:sqlite';
import { NotificationError, createClient, createNotificationMiddleware } from '@webhooks/client';

const env = (name: string): string => process.env[name] ?? '';
const client = createClient({
  baseUrl: env('WEBHOOKS_URL'),
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

/** After a crash what is stored and not done is done again: acting twice for one id must do no harm. */
async function work(): Promise<void> {
  for (const { id, payment } of waiting.all()) {
    const { amount, reversals } = await client.transaction(String(payment));
    process.stdout.write(`acted ${String(id)}: ${amount ?? '?'}, reversals: ${reversals.length}\n`);
    finish.run(String(id));
  }
}
let working = Promise.resolve();
const wake = (): unknown =>
  (working = working.then(work).catch((error: unknown) => void process.stderr.write(`${String(error)}\n`)));

const tls = { cert: readFileSync(env('CERT_FILE')), key: readFileSync(env('KEY_FILE')) };
const server = createServer(tls, (request: Parameters<typeof verify>[0], response) => {
  verify(request, response, (error) => {
    const { notification } = request;
    if (notification) {
      const { changes } = store.run(notification.id, notification.data.endToEndId);
      process.stdout.write(`${changes === 1 ? 'stored' : 'repeated'} ${notification.id}\n`);
      response.writeHead(204).end();
      wake();
    } else response.writeHead(error instanceof NotificationError ? error.status : 500).end();
  });
});
server.listen(Number(env('PORT')), wake);
setInterval(wake, 5_000);
