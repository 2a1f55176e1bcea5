import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { testKafkaBrokers } from '../../src/test-engines.js';
import { startServiceProcess } from '../../src/stack/service-process.js';
import { scratchFolders } from '../scratch-folder.js';

const scratch = scratchFolders();

it('a service is not taken for ready because another program answers at its admin port', async () => {
  const impostor = createServer((_request, response) => void response.end()).listen(0, '127.0.0.1');
  await once(impostor, 'listening');
  const starting = startServiceProcess({
    name: 'ingest',
    adminPort: (impostor.address() as AddressInfo).port,
    env: {
      KAFKA_BROKERS: testKafkaBrokers().join(','),
      TOKEN_ISSUER: 'http://127.0.0.1:9',
      TOKEN_AUDIENCE: 'a',
    },
    logFile: join(await scratch(), 'log'),
  });
  await expect(starting).rejects.toThrow(/ingest ended while starting .*EADDRINUSE/);
  impostor.close();
});
