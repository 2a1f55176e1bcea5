import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PEOPLE, planConsole, startIssuer } from '@webhooks/local';
import { print, untilSignal } from '@webhooks/testkit/account';
import { FILES, FOLDERS, readClients, required } from './environment.js';

// The token issuer for development, reached by the name that the services trust (TOKEN_ISSUER).
const name = required('TOKEN_ISSUER');
const issuer = await startIssuer({
  host: '0.0.0.0',
  port: Number(new URL(name).port),
  issuer: name,
  audience: required('TOKEN_AUDIENCE'),
  clients: readClients(),
  people: PEOPLE,
  webClient: planConsole(
    new URL(required('CONSOLE_ADDRESS')).origin,
    readFileSync(FILES.consoleSecret, 'utf8'),
  ),
  keysFile: join(FOLDERS.tokens, 'issuer-keys.json'),
  log: print,
});
await once(untilSignal(), 'abort');
await issuer.stop();
