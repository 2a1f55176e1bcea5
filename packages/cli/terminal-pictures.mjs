// Draws listen.svg, find.svg and doctor.svg from real runs against a stack of its own: node packages/cli/terminal-pictures.mjs
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startStack } from '@webhooks/local';
import { terminalPicture } from '../tooling/terminal-picture.mjs';

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'pictures-'));
const stack = await startStack({ dataDir, fixedPorts: false, log: () => undefined });
const { configApi, ingest, queryApi, tokenEndpoint, tls } = stack.description();
const { clientId, clientSecret } = stack.clientOf('acme');
const env = {
  PATH: process.env.PATH,
  FORCE_COLOR: '1',
  TZ: 'America/Sao_Paulo',
  XDG_CONFIG_HOME: dataDir,
  NODE_EXTRA_CA_CERTS: tls.caFile,
  WEBHOOKS_URL: configApi,
  WEBHOOKS_INGEST_URL: ingest,
  WEBHOOKS_QUERY_URL: queryApi,
  WEBHOOKS_TOKEN_ENDPOINT: tokenEndpoint,
  WEBHOOKS_CLIENT_ID: clientId,
  WEBHOOKS_CLIENT_SECRET: clientSecret,
};

/** Runs one command line; `said` is what a terminal shows. */
function start(line) {
  const child = spawn(process.execPath, [file('dist/src/main.js'), ...line.split(' ')], { env });
  const running = { said: '', out: '', child };
  child.stdout.on('data', (chunk) => (running.out += chunk));
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (running.said += chunk));
  running.ended = once(child, 'close');
  return running;
}

async function run(line) {
  const running = start(line);
  await running.ended;
  return running;
}

/** A grey line that is wider than a terminal goes on in the next one, as it does there. */
const wrap = (line) =>
  /^ *\x1b\[2m([^\x1b]{108,})\x1b\[22m$/
    .exec(line)?.[1]
    .match(/.{1,106}/g)
    .map((part) => `  \x1b[2m${part}\x1b[22m`) ?? line;

const draw = (name, line, said) =>
  writeFileSync(
    file(`${name}.svg`),
    terminalPicture(
      [`$ webhooks ${line}`, ...said.trimEnd().split('\n').flatMap(wrap)],
      `The terminal of webhooks ${name}`,
    ),
  );

/** Answers with `statusOf` the request's number, from 1. */
async function listen(server, statusOf) {
  let requests = 0;
  server.on('request', (request, response) => {
    request.resume();
    requests += 1;
    response.writeHead(statusOf(requests)).end();
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  return server.address().port;
}

const shop = createHttpServer();
const shopPort = await listen(shop, (nth) => (nth === 3 ? 500 : 200));
const listenLine = `listen --forward http://localhost:${shopPort}/pix --count 3`;
const listening = start(listenLine);
while (!listening.said.includes('whsec_')) await delay(100);
await run('trigger PIX_DYNAMIC_PAID --scenario out-of-order');
await run('trigger PIX_STATIC');
await listening.ended;
draw('listen', listenLine, listening.said);

const { certPem, keyPem } = await stack.authority.issue(['localhost']);
const secured = createHttpsServer({ cert: certPem, key: keyPem });
const securedPort = await listen(secured, (nth) => (nth === 1 ? 503 : 200));
const url = `https://localhost:${securedPort}/pix`;
await run(`create --event-type PIX_OUT --endpoint-url ${url}`);
const [{ data }] = JSON.parse((await run('trigger PIX_OUT --json')).out);
const findLine = `find ${data.endToEndId}`;
let found = await run(findLine);
while (!/\b200\b/.test(found.out)) {
  await delay(1_000);
  found = await run(findLine);
}
draw('find', findLine, found.said);

const doctorLine = `doctor ${url}`;
draw('doctor', doctorLine, (await run(doctorLine)).said);

shop.close();
secured.close();
await stack.stop();
rmSync(dataDir, { recursive: true, force: true });
