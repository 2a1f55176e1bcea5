// Starts ingest with this admin port and log file, and prints that it is ready, or why it is not.
import { startServiceProcess } from '../../src/stack/service-process.js';

const [adminPort = '', logFile = ''] = process.argv.slice(2);
const env = { KAFKA_BROKERS: '127.0.0.1:9', TOKEN_ISSUER: 'http://127.0.0.1:9', TOKEN_AUDIENCE: 'any' };
const outcome = await startServiceProcess({
  name: 'ingest',
  program: 'ingest',
  adminPort: Number(adminPort),
  env,
  logFile,
}).then(() => 'ready', String);
process.stdout.write(`${outcome}\n`);
process.exit();
