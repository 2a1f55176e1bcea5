import { startIssuer } from '@webhooks/engines';
import { FILES } from './folders.js';
import { readClients } from './read-clients.js';
import { required } from './required.js';
import { untilSignal } from './until-signal.js';

// The token issuer for development, reached by the name that the services trust (TOKEN_ISSUER).
const name = required('TOKEN_ISSUER');
const issuer = await startIssuer({
  host: '0.0.0.0',
  port: Number(new URL(name).port),
  issuer: name,
  audience: required('TOKEN_AUDIENCE'),
  clients: readClients(),
  keysFile: FILES.signingKey,
  log: (line) => process.stdout.write(`${line}\n`),
});
await untilSignal();
await issuer.stop();
