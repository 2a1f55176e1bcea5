// A receiver of your own: node packages/demo/receiver.mjs [port]. It shows each notification and responds with 200, or STATUS.
// With SECRET=whsec_… it says whether the signature is right.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { fileURLToPath } from 'node:url';

const port = Number(process.argv[2] ?? 9443);
const stackFile = fileURLToPath(new URL('../../.data/stack.json', import.meta.url));
const { CERT_FILE, KEY_FILE, SECRET: secret } = process.env;

/** A certificate for localhost that deliveries trust: the one in CERT_FILE and KEY_FILE, or that of the running stack. */
function findCertificate() {
  if (CERT_FILE && KEY_FILE) return { certFile: CERT_FILE, keyFile: KEY_FILE };
  if (existsSync(stackFile)) return JSON.parse(readFileSync(stackFile, 'utf8')).tls;
  console.error('start the stack first, in another terminal: npm start');
  process.exit(1);
}

const { certFile, keyFile } = findCertificate();

/** Standard Webhooks 1.0.0: HMAC-SHA256 over `id.timestamp.body`; during a rotation there are several signatures. */
function isSigned(headers, body) {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const wanted = Buffer.from(`v1,${createHmac('sha256', key).update(signed).update(body).digest('base64')}`);
  const given = (headers['webhook-signature'] ?? '').split(' ').map((text) => Buffer.from(text));
  return given.some((one) => one.length === wanted.length && timingSafeEqual(one, wanted));
}

const server = createServer(
  { cert: readFileSync(certFile), key: readFileSync(keyFile) },
  (request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const { 'webhook-id': id, 'webhook-attempt': attempt } = request.headers;
      const signature =
        secret === undefined
          ? ''
          : isSigned(request.headers, body)
            ? ' · signature right'
            : ' · signature WRONG';
      console.log(
        `${new Date().toISOString()} ${request.url} ${id} attempt ${attempt}${signature}\n  ${body}`,
      );
      response.writeHead(Number(process.env.STATUS ?? 200)).end();
    });
  },
);
server.on('error', (error) => {
  console.error(`cannot listen on port ${port}: ${error.message}`);
  process.exit(1);
});
server.listen(port, 'localhost', () => console.log(`listening on https://localhost:${port}`));
