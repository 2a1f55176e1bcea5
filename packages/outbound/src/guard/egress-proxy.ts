import { request as httpRequest } from 'node:http';
import { connect, isIPv6, type Socket } from 'node:net';
import { repeatUntilClose, type ServiceScope } from '@webhooks/runtime';
import { EGRESS_PROXY, SendFailure, toConnectFailure } from '../send-failure.js';

/** The HTTP proxy through which all connections to endpoints are opened (`EGRESS_PROXY`). */
export interface EgressProxy {
  /** Host name or address; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Value of `Proxy-Authorization`; undefined: none is sent. */
  readonly authorization?: string | undefined;
}

/** Parses `http://host:port`. Throws for any other text, also for one with credentials. */
export function parseEgressProxy(text: string): EgressProxy {
  if (!/^http:\/\/(?:\[[^\]]+\]|[^:/?#@[\]]+):\d+\/?$/.test(text) || !URL.canParse(text))
    throw new Error('expected http://host:port; credentials belong in EGRESS_PROXY_CREDENTIALS_FILE');
  const { hostname, port } = new URL(text);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) };
}

/** Parses `user:password` and returns the value of `Proxy-Authorization` (RFC 7617). */
export function parseCredentials(text: string): string {
  if (!/^[^:\p{Cc}]{1,255}:\P{Cc}{0,255}$/u.test(text))
    throw new Error('expected user:password, each of at most 255 characters');
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

/** A fault of the proxy. It is a fault of this side, so the attempt does not count. */
function egressFault(what: string, cause?: unknown): SendFailure {
  const message = `the egress proxy ${what}`;
  return Object.assign(new SendFailure('CONNECT', EGRESS_PROXY, cause), { message });
}

/** 407 (RFC 9110 §15.5.8), and tinyproxy's status for a wrong password. */
const CREDENTIALS_REFUSED: ReadonlySet<number> = new Set([401, 407]);

/** The fault of a proxy that has not responded in time. */
export const noResponse = (cause?: unknown): SendFailure =>
  egressFault('sends no response: check EGRESS_PROXY, and that the proxy runs and takes HTTP', cause);

const isTunnel = (status: number): boolean => status >= 200 && status <= 299;

/** Begins a connection to the proxy. The caller must destroy the socket. */
export function connectToProxy({ host, port }: EgressProxy): Socket {
  const tcp = connect({ host, port, noDelay: true, keepAlive: true });
  // The request on the socket, and then TLS, report the error.
  return tcp.on('error', () => undefined);
}

/**
 * Sends a request without a body and resolves with the status of the response. Node bounds its head to 16 KiB. Rejects
 * with the proxy's fault, or the `SendFailure` that destroyed the socket. The caller must set a deadline.
 */
async function request(tcp: Socket, proxy: EgressProxy, method: 'CONNECT' | 'OPTIONS', path: string) {
  const headers: Record<string, string> = { host: method === 'CONNECT' ? path : proxy.host };
  if (proxy.authorization !== undefined) headers['proxy-authorization'] = proxy.authorization;
  const status = await new Promise<number>((resolve, reject) => {
    httpRequest({ createConnection: () => tcp, method, path, headers })
      .once('connect', ({ statusCode = 0 }, _socket, rest) => {
        // Of a tunnel: in TLS the endpoint sends nothing before the client's first bytes. A refusal may have a body.
        if (isTunnel(statusCode) && rest.length > 0)
          reject(egressFault('sends a body with its response to CONNECT'));
        else resolve(statusCode);
      })
      .once('response', ({ statusCode = 0 }) => resolve(statusCode))
      .on('error', (error) => reject(error instanceof SendFailure ? error : noResponse(error)))
      .end();
  });
  if (!CREDENTIALS_REFUSED.has(status)) return status;
  throw egressFault('refuses the credentials: check EGRESS_PROXY_CREDENTIALS_FILE');
}

/**
 * Statuses of a proxy that cannot reach the address: squid and Envoy send 503, tinyproxy 500, others 502 or 504. An
 * overloaded proxy may send the same. They count as the endpoint's failure: otherwise no breaker would open for an
 * endpoint that is down, and each of its deliveries would be tried for 8 days. A proxy that sends them for all
 * endpoints costs their deliveries attempts, as a broken network without a proxy does.
 */
const UNREACHED: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/**
 * Opens a tunnel to a checked address (RFC 9110 §9.3.6). Rejects with the proxy's fault, with the endpoint's failure, or
 * with the `SendFailure` that destroyed the socket.
 */
export async function openTunnel(tcp: Socket, proxy: EgressProxy, address: string, port: number) {
  const path = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const status = await request(tcp, proxy, 'CONNECT', path);
  if (UNREACHED.has(status)) throw new SendFailure('CONNECT', `EGRESS_PROXY_${status}`);
  if (!isTunnel(status))
    throw egressFault(`refuses CONNECT to port ${port} (${status}): allow it in its rules`);
}

/** Longest wait for a proxy that is checked, and the pause between two checks, milliseconds: a fault shows within 4 s. */
const CHECK_MS = 2_000;

/**
 * Sends a request that the proxy itself responds to (RFC 9110 §9.3.7). Resolves when it responds with any status that
 * does not refuse the credentials. Rejects with the proxy's fault otherwise, or after `timeoutMs`.
 */
export async function checkProxy(proxy: EgressProxy, timeoutMs = CHECK_MS): Promise<void> {
  const tcp = connectToProxy(proxy);
  const timer = setTimeout(() => tcp.destroy(noResponse()), timeoutMs);
  await request(tcp, proxy, 'OPTIONS', '*').finally(() => {
    clearTimeout(timer);
    tcp.destroy();
  });
}

/** Resolves with a sentence about the way to the endpoints. Rejects with the proxy's fault and its fix. */
export async function checkEgress(proxy: EgressProxy | undefined): Promise<string> {
  if (proxy === undefined) return 'deliveries use no proxy';
  await checkProxy(proxy);
  const credentials = proxy.authorization === undefined ? 'no credentials are sent' : 'credentials are sent';
  return `the egress proxy at ${proxy.host}:${proxy.port} responds; ${credentials}`;
}

/** Checks the proxy every 2 s. A fault is logged when it begins and ends, and the service is not ready meanwhile. */
export function watchEgress(
  proxy: EgressProxy,
  scope: Pick<ServiceScope, 'health' | 'log' | 'onClose'>,
): void {
  let fault: Error | undefined;
  const work = async (): Promise<void> => {
    fault = await checkProxy(proxy).then(() => undefined, toConnectFailure);
    if (fault !== undefined) throw fault;
  };
  repeatUntilClose({ name: 'checking the egress proxy', everyMs: CHECK_MS, work }, scope);
  scope.health.readiness('egress proxy', () => fault?.message);
}
