import { connect, isIP } from 'node:net';
import type { LookupFunction, Socket, TcpNetConnectOpts } from 'node:net';
import { checkServerIdentity, connect as connectTls, TLSSocket } from 'node:tls';
import type { PeerCertificate, SecureContext } from 'node:tls';
import type { AddressPolicy } from './address-policy.js';
import { checkProxy, connectToProxy, noResponse, openTunnel, type EgressProxy } from './egress-proxy.js';
import { SecuredSocket, ThrottledError } from './handshake-budget.js';
import type { TenantHandshakes } from './handshake-budget.js';
import type { Resolve } from './resolver.js';
import { classOf, codeOf, isLocalFault, SendFailure, toConnectFailure } from '../send-failure.js';

export interface Guard {
  /** Why an address must not be connected to. */
  readonly refusalOf: AddressPolicy;
  readonly resolve: Resolve;
  readonly secureContext: SecureContext;
  /** Bytes of tickets that an endpoint may send behind the handshake, besides those that each attempt has. */
  readonly ticketBytes: number;
  /** Time for resolving, connecting and TLS together, milliseconds. */
  readonly connectTimeoutMs: number;
  /** Default: connections are opened without a proxy. */
  readonly egressProxy?: EgressProxy | undefined;
}

/**
 * How long one address is tried before Node tries the next, milliseconds. Each address gets an equal share, at least
 * 1 s. Node's default of 250 ms fails for distant receivers, and a lost SYN is sent again after 1 s.
 */
const shareOf = (connectTimeoutMs: number, addresses: number): number =>
  Math.max(1_000, Math.floor(connectTimeoutMs / addresses));
/**
 * The protocol's name in ALPN's encoding. A `DataView`, because Node copies any other type into a slab that stays in
 * memory.
 */
const HTTP_1_1 = new DataView(Uint8Array.from([8, ...Buffer.from('http/1.1')]).buffer);
/** Addresses of one name that are tried. Each takes a second, and the default connect timeout is three. */
const MAX_ADDRESSES = 4;
/** Addresses of one name. All are judged: 21 ms of the thread for the 4,000 that fit into an answer, for each connection. */
const MAX_ANSWER = 64;
/**
 * A connection with this many session tickets is ended. Servers send two (TLS 1.3). Each costs this side 17 µs, for
 * 18 bytes of the endpoint.
 */
const MAX_TICKETS = 8;
const LOOPBACK = ['127.0.0.1', '::1'] as const;

/**
 * Stores the latest TLS session of a verified connection to one origin with one client certificate: at most 10 KiB,
 * Node's bound.
 */
export interface SessionSlot {
  session: Buffer | undefined;
}

/**
 * Creates the function that opens all outbound connections. It accepts https only and checks every address of the
 * DNS answer: one denied address refuses the connection. It connects to an address of that answer, checks the
 * connected socket's address again, and then verifies the name by TLS. A proxy gets the address and not the name; the
 * socket's own address is then the proxy's and is not checked.
 */
export function createGuardedConnect(guard: Guard) {
  return (url: URL, slot: SessionSlot, tenant: TenantHandshakes): Promise<SecuredSocket> =>
    new Connecting(guard, url, slot, tenant).run(url.protocol);
}

/** Opens a connection. Settles within the connect timeout. */
export type GuardedConnect = ReturnType<typeof createGuardedConnect>;

const timedOut = (): SendFailure => new SendFailure('CONNECT_TIMEOUT', 'CONNECT_TIMEOUT');

/** A URL has an IPv6 address in brackets; a socket takes it without. */
function toDestination({ hostname, port }: URL) {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return { host, port: port === '' ? 443 : Number(port) };
}

/** The opening of one connection, under one deadline. */
class Connecting {
  readonly #guard: Guard;
  readonly #to: ReturnType<typeof toDestination>;
  readonly #slot: SessionSlot;
  readonly #tenant: TenantHandshakes;
  readonly #startedAt = performance.now();
  readonly #expiry = Promise.withResolvers<never>();
  #socket: Socket | undefined;
  #failure: SendFailure | undefined;
  /** Set while it is unknown whether the proxy or the endpoint delays the connection. */
  #proxyFault: SendFailure | undefined;
  #earlySession: Buffer | undefined;

  constructor(guard: Guard, url: URL, slot: SessionSlot, tenant: TenantHandshakes) {
    this.#guard = guard;
    this.#to = toDestination(url);
    this.#slot = slot;
    this.#tenant = tenant;
  }

  async run(protocol: string): Promise<SecuredSocket> {
    if (protocol !== 'https:') throw new SendFailure('ADDRESS_DENIED', 'not https');
    if (this.#tenant.isIsolated) throw new ThrottledError();
    const timer = setTimeout(() => this.#expire(), this.#guard.connectTimeoutMs);
    try {
      return await Promise.race([this.#open(), this.#expiry.promise]);
    } catch (error) {
      this.#socket?.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #expire(): void {
    const isPaused = this.#tenant.pauseLeftMs > 0;
    this.#failure = isPaused ? new ThrottledError() : (this.#proxyFault ?? timedOut());
    this.#expiry.reject(this.#failure);
    this.#socket?.destroy();
  }

  async #open(): Promise<SecuredSocket> {
    const addresses = await this.#checkedAddresses();
    // The deadline may have passed before the DNS answer arrived.
    if (this.#failure !== undefined) throw this.#failure;
    const { egressProxy: proxy } = this.#guard;
    const tcp = await (proxy ? this.#tunnel(proxy, addresses) : this.#direct(addresses));
    // Its tenant may have been isolated meanwhile.
    if (this.#tenant.isIsolated) throw new ThrottledError();
    return this.#secured(tcp);
  }

  async #direct(addresses: readonly string[]): Promise<Socket> {
    const tcp = connect(this.#optionsFor(addresses));
    this.#socket = tcp;
    await opened(tcp, 'connect', toConnectFailure);
    this.#checkSocket(tcp, addresses);
    return tcp;
  }

  /**
   * Opens a tunnel to the first address that the proxy reaches. A proxy often sends nothing while it waits for an
   * endpoint, so halfway to the deadline it is checked itself. If it does not respond either, the fault is the proxy's.
   */
  async #tunnel(proxy: EgressProxy, addresses: readonly string[]): Promise<Socket> {
    const leftMs = this.#startedAt + this.#guard.connectTimeoutMs - performance.now();
    this.#proxyFault = noResponse();
    const halfway = setTimeout(() => this.#checkProxy(proxy, leftMs / 2), leftMs / 2);
    const reached = this.#firstReached(proxy, addresses.slice(0, MAX_ADDRESSES));
    const tcp = await reached.finally(() => clearTimeout(halfway));
    this.#proxyFault = undefined;
    return tcp;
  }

  #checkProxy(proxy: EgressProxy, timeoutMs: number): void {
    checkProxy(proxy, timeoutMs).then(
      () => (this.#proxyFault = undefined),
      (fault: unknown) => (this.#proxyFault &&= toConnectFailure(fault)),
    );
  }

  async #firstReached(proxy: EgressProxy, [address = '', ...others]: readonly string[]): Promise<Socket> {
    const tcp = connectToProxy(proxy);
    this.#socket = tcp;
    const shareMs = shareOf(this.#guard.connectTimeoutMs, others.length + 1);
    const timer = setTimeout(() => tcp.destroy(timedOut()), shareMs);
    try {
      await openTunnel(tcp, proxy, address, this.#to.port);
      return tcp;
    } catch (error) {
      tcp.destroy();
      const failure = this.#failure ?? toConnectFailure(error);
      if (others.length === 0 || this.#failure !== undefined || isLocalFault(failure)) throw failure;
      return await this.#firstReached(proxy, others);
    } finally {
      clearTimeout(timer);
    }
  }

  #optionsFor(addresses: readonly string[]): TcpNetConnectOpts {
    return {
      ...this.#to,
      lookup: lookupAmong(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: shareOf(this.#guard.connectTimeoutMs, addresses.length),
      noDelay: true,
      keepAlive: true,
    };
  }

  async #checkedAddresses(): Promise<readonly string[]> {
    const addresses = await this.#addresses();
    if (addresses.length > MAX_ANSWER) throw new SendFailure('DNS', 'TOO_MANY_ADDRESSES');
    for (const address of addresses) this.#checkAddress(address);
    return addresses;
  }

  async #addresses(): Promise<readonly string[]> {
    const { host } = this.#to;
    if (isIP(host) !== 0) return [host];
    // DNS is not queried for `localhost` (RFC 6761 §6.3). Its addresses are checked like all others.
    return host === 'localhost' ? LOOPBACK : this.#guard.resolve(host);
  }

  #checkAddress(address: string): void {
    const reason = this.#guard.refusalOf(address);
    if (reason !== undefined) throw new SendFailure('ADDRESS_DENIED', reason);
  }

  /** Checks the address to which the socket is connected. */
  #checkSocket({ remoteAddress }: Socket, addresses: readonly string[]): void {
    if (remoteAddress === undefined) throw new SendFailure('CONNECT', 'ECONNRESET');
    this.#checkAddress(remoteAddress);
    if (!addresses.includes(remoteAddress)) throw new SendFailure('ADDRESS_DENIED', 'not of the answer');
  }

  /**
   * Secures the connection. A resumed session saves a third of a handshake's CPU time, but the certificate is not
   * checked again. So only sessions of verified connections are stored, and no longer than a connection may live.
   */
  async #secured(tcp: Socket): Promise<SecuredSocket> {
    const { host } = this.#to;
    const tls = connectTls({
      socket: tcp,
      ...(isIP(host) === 0 ? { servername: host } : { host }),
      secureContext: this.#guard.secureContext,
      ALPNProtocols: HTTP_1_1,
      // Set here, so that NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect.
      rejectUnauthorized: true,
      checkServerIdentity: checkIdentity,
      session: this.#slot.session,
    });
    this.#socket = tls;
    const socket = new SecuredSocket(tcp, tls, this.#tenant, this.#guard.ticketBytes);
    this.#storeSessions(socket);
    try {
      await this.#tenant.budget.measure(socket, opened(tls, 'secureConnect', toTlsFailure));
    } catch (error) {
      this.#slot.session = undefined;
      throw error;
    }
    if (this.#earlySession !== undefined) this.#slot.session = this.#earlySession;
    return socket;
  }

  #storeSessions(socket: SecuredSocket): void {
    let tickets = 0;
    socket.tls.on('session', (session) => {
      if ((tickets += 1) === MAX_TICKETS) socket.endAsFlood();
      // TLS 1.2 emits its session before the certificate is verified, TLS 1.3 afterwards.
      if (socket.tls.authorized) this.#slot.session = session;
      else this.#earlySession = session;
    });
  }
}

/**
 * Refuses a certificate without alternative names. Node would use the subject, which no public authority verifies
 * (RFC 9525 §2).
 */
function checkIdentity(host: string, certificate: PeerCertificate): Error | undefined {
  if (certificate.subjectaltname !== undefined) return checkServerIdentity(host, certificate);
  return Object.assign(new Error('the certificate has no subject alternative name'), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  });
}

/** TLS alerts about a client's certificate (RFC 8446 §6.2), as OpenSSL names them. */
const CLIENT_ALERT =
  /_ALERT_(HANDSHAKE_FAILURE|(?:BAD|UNSUPPORTED)_CERTIFICATE|CERTIFICATE_(?:REQUIRED|EXPIRED|REVOKED|UNKNOWN)|UNKNOWN_CA)$/;

/**
 * Sets a distinct code for an alert about the client certificate. TLS 1.2 has several alerts for a missing one. It
 * is considered missing when the endpoint has presented its certificate and this side presented none.
 */
function nameAlert(error: NodeJS.ErrnoException, socket: TLSSocket): void {
  const alert = CLIENT_ALERT.exec(error.code ?? '')?.[1];
  if (alert === undefined) return;
  const isSent = isCertificate(socket.getCertificate());
  if (!isSent && isCertificate(socket.getPeerCertificate())) error.code = 'TLS_CLIENT_CERTIFICATE_REQUIRED';
  else if (isSent && alert !== 'HANDSHAKE_FAILURE') error.code = `TLS_CLIENT_${alert}`;
}

/** Node represents a missing certificate as an empty object or null. */
const isCertificate = (certificate: object | null): boolean => certificate !== null && 'raw' in certificate;

function toTlsFailure(error: unknown): SendFailure {
  if (error instanceof SendFailure) return error;
  const code = codeOf(error, 'TLS_FAILED');
  return new SendFailure(classOf(code, 'CONNECT'), code, error);
}

/**
 * Resolves when the event fires. Rejects with an earlier error or close. The error listener stays for the socket's
 * life.
 */
function opened(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  describe: (error: unknown) => SendFailure,
): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (socket instanceof TLSSocket) nameAlert(error, socket);
      // Node leaves a socket open after an alert; the end that follows would hide the alert.
      socket.destroy(error);
      reject(describe(error));
    });
    socket.once('close', () => reject(describe({ code: 'ECONNRESET' })));
  });
}

/**
 * Returns a look-up function that queries no DNS: it returns the checked addresses in the form that Node requires
 * (`all` for happy eyeballs). It calls back in the next tick, because a connection that is refused at once would
 * fail before a listener is attached.
 */
function lookupAmong(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) })).slice(0, MAX_ADDRESSES);
  return (_hostname, options, callback) => {
    const [first] = found;
    if (options.all === true) process.nextTick(callback, null, found);
    else process.nextTick(callback, null, first?.address ?? '', first?.family ?? 0);
  };
}
