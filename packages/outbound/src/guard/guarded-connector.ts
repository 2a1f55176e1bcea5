import { connect, isIP } from 'node:net';
import type { LookupFunction, Socket, TcpNetConnectOpts } from 'node:net';
import { checkServerIdentity, connect as connectTls, TLSSocket } from 'node:tls';
import type { PeerCertificate, SecureContext } from 'node:tls';
import type { AddressPolicy } from './address-policy.js';
import { SecuredSocket, ThrottledError } from './handshake-budget.js';
import type { TenantHandshakes } from './handshake-budget.js';
import type { Resolve } from './resolver.js';
import { classOf, codeOf, SendFailure, toConnectFailure } from '../send-failure.js';

export interface Guard {
  readonly refusalOf: AddressPolicy;
  readonly resolve: Resolve;
  readonly secureContext: SecureContext;
  /** TLS bytes that an endpoint may send in a handshake. */
  readonly handshakeBytes: number;
  /** Time for resolving, connecting and TLS together. */
  readonly connectTimeoutMs: number;
}

/**
 * After this time Node tries the next address. Each address gets an equal share, at least 1 s: Node's default of 250 ms fails for
 * distant receivers, and a lost SYN is sent again after 1 s.
 */
const shareOf = (connectTimeoutMs: number, addresses: number): number =>
  Math.max(1_000, Math.floor(connectTimeoutMs / addresses));
/** A session holds the endpoint's certificate and a ticket, usually 1 or 2 KiB. Each pool keeps one. */
const SESSION_LIMIT_BYTES = 16_384;
/** The protocol's name as ALPN encodes it. A `DataView`, because Node copies anything else into a slab that stays in memory. */
const HTTP_1_1 = new DataView(Uint8Array.from([8, ...Buffer.from('http/1.1')]).buffer);
/** Addresses of one name that are tried. Each takes a second, and the default time-out is three. */
const MAX_ADDRESSES = 4;
/** Session tickets of one connection. Servers send two (TLS 1.3); each costs us 17 µs for 18 bytes of theirs. */
const MAX_TICKETS = 8;
const LOOPBACK = ['127.0.0.1', '::1'] as const;

/** Holds the latest TLS session of a verified connection to one origin with one client certificate. */
export interface SessionSlot {
  session: Buffer | undefined;
}

/**
 * The only way out. It takes https only, and judges every address of the DNS answer: one bad address refuses the connection. It
 * connects to an address of that answer, judges the connected socket's address again, and then checks the name by TLS.
 */
export function createGuardedConnect(guard: Guard) {
  return (url: URL, slot: SessionSlot, tenant: TenantHandshakes): Promise<SecuredSocket> =>
    new Connecting(guard, url, slot, tenant).run(url.protocol);
}

/** Opens a connection. Settles at the connect time-out at the latest. */
export type GuardedConnect = ReturnType<typeof createGuardedConnect>;

/** A URL has an IPv6 address in brackets. */
function toDestination({ hostname, port }: URL) {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return { host, port: port === '' ? 443 : Number(port) };
}

/** One connection that is being opened, under one deadline. */
class Connecting {
  readonly #guard: Guard;
  readonly #to: ReturnType<typeof toDestination>;
  readonly #slot: SessionSlot;
  readonly #tenant: TenantHandshakes;
  readonly #ending = Promise.withResolvers<never>();
  #socket: Socket | undefined;
  #given: SendFailure | undefined;
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
    const timer = setTimeout(() => this.#end(), this.#guard.connectTimeoutMs);
    try {
      return await Promise.race([this.#open(), this.#ending.promise]);
    } catch (error) {
      this.#socket?.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #end(): void {
    const isResting = this.#tenant.restMs > 0;
    this.#given = isResting ? new ThrottledError() : new SendFailure('CONNECT_TIMEOUT', 'CONNECT_TIMEOUT');
    this.#ending.reject(this.#given);
    this.#socket?.destroy();
  }

  async #open(): Promise<SecuredSocket> {
    const addresses = await this.#vettedAddresses();
    // The deadline may have passed before the DNS answer came.
    if (this.#given !== undefined) throw this.#given;
    const tcp = connect(this.#optionsFor(addresses));
    this.#socket = tcp;
    await opened(tcp, 'connect', toConnectFailure);
    this.#judgeSocket(tcp, addresses);
    return this.#secured(tcp);
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

  async #vettedAddresses(): Promise<readonly string[]> {
    const addresses = await this.#addresses();
    for (const address of addresses) this.#judge(address);
    return addresses;
  }

  async #addresses(): Promise<readonly string[]> {
    const { host } = this.#to;
    if (isIP(host) !== 0) return [host];
    // DNS is not queried for `localhost` (RFC 6761 §6.3). Its addresses are judged like all others.
    return host === 'localhost' ? LOOPBACK : this.#guard.resolve(host);
  }

  #judge(address: string): void {
    const reason = this.#guard.refusalOf(address);
    if (reason !== undefined) throw new SendFailure('ADDRESS_DENIED', reason);
  }

  /** Judges the address that the socket is connected to. */
  #judgeSocket({ remoteAddress }: Socket, addresses: readonly string[]): void {
    if (remoteAddress === undefined) throw new SendFailure('CONNECT', 'ECONNRESET');
    this.#judge(remoteAddress);
    if (!addresses.includes(remoteAddress)) throw new SendFailure('ADDRESS_DENIED', 'not of the answer');
  }

  /**
   * A resumed session saves a third of a handshake's CPU time, but the certificate is not checked again. So only sessions of verified
   * connections are kept, and no longer than a connection.
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
    const socket = new SecuredSocket(tcp, tls, this.#tenant, this.#guard.handshakeBytes);
    this.#keepSessions(socket);
    try {
      await this.#tenant.budget.measure(socket, opened(tls, 'secureConnect', toTlsFailure));
    } catch (error) {
      this.#slot.session = undefined;
      throw error;
    }
    if (this.#earlySession !== undefined) this.#slot.session = this.#earlySession;
    return socket;
  }

  #keepSessions(socket: SecuredSocket): void {
    let tickets = 0;
    socket.tls.on('session', (session) => {
      if ((tickets += 1) === MAX_TICKETS) socket.endAsFlood();
      if (session.length > SESSION_LIMIT_BYTES) return;
      // TLS 1.2 gives its session before the certificate is verified, TLS 1.3 afterwards.
      if (socket.tls.authorized) this.#slot.session = session;
      else this.#earlySession = session;
    });
  }
}

/** Refuses a certificate without alternative names. Node would take the subject, which no public authority verifies (RFC 9525 §2). */
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
 * Gives an alert about our certificate its own code. For a missing one TLS 1.2 has several alerts: it is missing when the endpoint has
 * shown its certificate and we show none.
 */
function nameAlert(error: NodeJS.ErrnoException, socket: TLSSocket): void {
  const alert = CLIENT_ALERT.exec(error.code ?? '')?.[1];
  if (alert === undefined) return;
  const isShown = isCertificate(socket.getCertificate());
  if (!isShown && isCertificate(socket.getPeerCertificate())) error.code = 'TLS_CLIENT_CERTIFICATE_REQUIRED';
  else if (isShown && alert !== 'HANDSHAKE_FAILURE') error.code = `TLS_CLIENT_${alert}`;
}

/** Node represents a missing certificate as an empty object or null. */
const isCertificate = (certificate: object | null): boolean => certificate !== null && 'raw' in certificate;

function toTlsFailure(error: unknown): SendFailure {
  if (error instanceof SendFailure) return error;
  const code = codeOf(error, 'TLS_FAILED');
  return new SendFailure(classOf(code, 'CONNECT'), code, error);
}

/** Resolves with the event; rejects with an earlier error or close. Its error listener stays for the socket's life. */
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
 * Looks nothing up: it returns the judged addresses in the form that Node wants (`all` for happy eyeballs). It calls back in the next
 * tick, because a connection that is refused at once would fail before anyone listens.
 */
function lookupAmong(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) })).slice(0, MAX_ADDRESSES);
  return (_hostname, options, callback) => {
    const [first] = found;
    if (options.all === true) process.nextTick(callback, null, found);
    else process.nextTick(callback, null, first?.address ?? '', first?.family ?? 0);
  };
}
