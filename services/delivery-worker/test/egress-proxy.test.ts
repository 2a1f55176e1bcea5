import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { eventually, startEndpoint } from '@webhooks/testkit';
import { eventFor, openRig, WAIT } from './rig.js';

it('a worker whose egress proxy fails says so, counts no attempt, and delivers once it works', async () => {
  let works = false;
  const proxy = createServer((_, response) => response.writeHead(works ? 501 : 407).end());
  proxy.on('connect', ({ url = '' }: { url?: string }, client) => {
    client.on('error', () => undefined);
    if (!works) return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const server = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(server).pipe(client);
    });
    client.once('close', () => server.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const rig = await openRig({ EGRESS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
  const endpoint = await startEndpoint();
  const configuration = await rig.register(endpoint);
  const fault = /^the egress proxy refuses the credentials: check EGRESS_PROXY_CREDENTIALS_FILE$/;
  await eventually(() => expect(rig.worker.ready().faults['egress proxy']).toMatch(fault), {
    timeoutMs: 5_000,
  });
  expect(rig.worker.lines.join()).toContain('checking the egress proxy failed; retrying');
  await rig.bench.send(eventFor(configuration));
  await rig.untilTimeline(configuration.ref, ['deferred fault']);
  works = true;
  await eventually(() => expect(rig.worker.ready().faults).not.toHaveProperty('egress proxy'), WAIT);
  await rig.bench.send(eventFor(configuration));
  await rig.untilTimeline(configuration.ref, ['deferred fault', '1 200']);
  expect(endpoint.arrivals).toHaveLength(1);
  await rig.stop();
  await endpoint.close();
  proxy.closeAllConnections();
  proxy.close();
});
