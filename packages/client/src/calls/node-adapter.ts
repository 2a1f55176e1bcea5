import type { AxiosAdapter } from 'axios';
import axios from 'axios/dist/browser/axios.cjs';
import type { IncomingMessage } from 'node:http';
import type { Agent } from 'node:https';

/** A proxy cannot reach the loopback addresses of this machine. */
const LOOPBACK = 'localhost,.localhost,127.0.0.1-127.255.255.255,::1';

/** Returns the address of a proxy. Node would ignore one without a scheme, which is an HTTP proxy everywhere else. Throws for another kind. */
function proxyAddress(name: string, value: string): string {
  const address = value.includes('://') ? value : `http://${value}`;
  if (/^https?:$/.test(URL.parse(address)?.protocol ?? '')) return address;
  throw new Error(`${name} must be an address such as http://proxy:3128`);
}

/** Returns the environment with its proxies as Node reads them. */
function proxyEnvironment(): NodeJS.ProcessEnv {
  const set = Object.entries(process.env).filter(([name, value]) => /^https?_proxy$/i.test(name) && value);
  const proxies = set.map(([name, value = '']) => [name, proxyAddress(name, value)] as const);
  const { no_proxy: lower, NO_PROXY: upper = '' } = process.env;
  return { ...process.env, ...Object.fromEntries(proxies), no_proxy: `${lower ?? upper},${LOOPBACK}` };
}

/** How long a connection may be silent between calls, or a proxy while it connects. Proxies close after a minute. */
const IDLE_MS = 30_000;

/** Reads the body as text. Throws when it has more bytes than `maxBytes`. */
async function readText(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    const tooLong = `the body has more than ${maxBytes} bytes`;
    if (bytes > maxBytes) throw Object.assign(new Error(tooLong), { code: 'ERR_BAD_RESPONSE' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/**
 * Creates an adapter that sends with `node:http` and `node:https`, through the proxies of the environment. Returns undefined in a browser,
 * where axios has its own. The modules are not imported, because a bundle for browsers has none.
 */
export function createNodeAdapter(httpsAgent: object | undefined): AxiosAdapter | undefined {
  if (typeof process === 'undefined' || !('getBuiltinModule' in process)) return undefined;
  const http = process.getBuiltinModule('node:http');
  const https = process.getBuiltinModule('node:https');
  const options = { keepAlive: true, timeout: IDLE_MS, proxyEnv: proxyEnvironment() };
  const httpAgent = new http.Agent(options);
  const secure = (httpsAgent as Agent | undefined) ?? new https.Agent(options);
  return async (config) => {
    const { method, maxContentLength = Infinity } = config;
    const signal = config.signal as AbortSignal;
    const data: unknown = config.data;
    const url = new URL(axios.getUri(config));
    const [send, agent] = url.protocol === 'https:' ? [https.request, secure] : [http.request, httpAgent];
    const sent = { 'user-agent': 'webhooks-client', ...config.headers.toJSON() };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = send(url, { method, headers: sent, agent, signal }, resolve).on('error', reject);
      // After an upgrade (101) Node emits neither a response nor an error.
      request.on('close', () => reject(new Error('closed before a response'))).end(data);
    });
    const text = await readText(response, maxContentLength);
    const headers = response.headers as Record<string, string>;
    return { data: text, status: response.statusCode ?? 0, statusText: '', headers, config };
  };
}
