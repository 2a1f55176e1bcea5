import { connect as connectTcp, isIP } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { SecureContext, TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import type { AddressPolicy } from './address-policy.js';
import type { Resolve } from './resolver.js';
import { codeOf, isTlsCode, SendFailure } from './send-failure.js';

export interface Guard {
  readonly allowAddress: AddressPolicy;
  /** The development switch: the name `localhost` means loopback, otherwise it is refused. */
  readonly allowLocalhost: boolean;
  readonly resolve: Resolve;
  readonly secureContext: SecureContext;
  /** Resolving, connecting and TLS together. */
  readonly connectTimeoutMs: number;
  /** Told about each connection that stands, and about its end. */
  readonly onOpen: () => void;
  readonly onClose: () => void;
}

interface Destination {
  readonly host: string;
  readonly port: number;
}

/**
 * Node gives an address up after this and tries the next one. An equal share of the time there is: 250 ms, its default,
 * fails for distant receivers, and at 1 s a lost SYN is just being sent again.
 */
const shareOf = (connectTimeoutMs: number, addresses: number): number =>
  Math.max(1_000, Math.floor(connectTimeoutMs / addresses));
const LOOPBACK = ['127.0.0.1', '::1'] as const;

export interface GuardedConnector {
  readonly connect: buildConnector.connector;
  /** Gives up every connection that is still on its way up. */
  abandon(): void;
}

/**
 * The only way out: https only; every address of the answer is judged and one bad address refuses the connection;
 * connects only to an address of that same answer; judges the address of the connected socket once more; then TLS by name.
 */
export function createGuardedConnector(guard: Guard): GuardedConnector {
  const underWay = new Set<Connecting>();
  return {
    connect({ protocol, hostname, port }, callback) {
      const connecting = new Connecting(guard, { host: hostname, port: port === '' ? 443 : Number(port) });
      underWay.add(connecting);
      connecting.run(protocol).then(
        (socket) => {
          underWay.delete(connecting);
          callback(null, socket);
        },
        (error: unknown) => {
          underWay.delete(connecting);
          callback(toFailure(error), null);
        },
      );
    },
    abandon() {
      for (const connecting of underWay) connecting.giveUp(new SendFailure('CONNECT', 'ABANDONED'));
    },
  };
}

function toFailure(error: unknown): SendFailure {
  if (error instanceof SendFailure) return error;
  const code = codeOf(error, 'CONNECT_FAILED');
  return new SendFailure(code === 'ETIMEDOUT' ? 'CONNECT_TIMEOUT' : 'CONNECT', code, error);
}

/** One connection on its way up, under one deadline. */
class Connecting {
  readonly #guard: Guard;
  readonly #to: Destination;
  readonly #ending = Promise.withResolvers<never>();
  #socket: Socket | undefined;
  #given: SendFailure | undefined;

  constructor(guard: Guard, to: Destination) {
    this.#guard = guard;
    this.#to = to;
  }

  async run(protocol: string): Promise<TLSSocket> {
    if (protocol !== 'https:') throw new SendFailure('ADDRESS_DENIED', 'not https');
    const late = new SendFailure('CONNECT_TIMEOUT', 'CONNECT_TIMEOUT');
    const timer = setTimeout(() => this.giveUp(late), this.#guard.connectTimeoutMs);
    try {
      return await Promise.race([this.#open(), this.#ending.promise]);
    } catch (error) {
      this.#socket?.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  giveUp(failure: SendFailure): void {
    this.#given = failure;
    this.#ending.reject(failure);
    this.#socket?.destroy();
  }

  async #open(): Promise<TLSSocket> {
    const addresses = await this.#vettedAddresses();
    // An answer of DNS may come when nobody waits for it any more.
    if (this.#given !== undefined) throw this.#given;
    const tcp = connectTcp({
      host: this.#to.host,
      port: this.#to.port,
      lookup: lookupAmong(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: shareOf(this.#guard.connectTimeoutMs, addresses.length),
      noDelay: true,
      keepAlive: true,
    });
    this.#socket = tcp;
    await opened(
      tcp,
      'connect',
      (error) => new SendFailure('CONNECT', codeOf(error, 'CONNECT_FAILED'), error),
    );
    this.#judgeSocket(tcp, addresses);
    return this.#secure(tcp);
  }

  async #vettedAddresses(): Promise<readonly string[]> {
    const addresses = await this.#addresses();
    for (const address of addresses) this.#judge(address);
    return addresses;
  }

  async #addresses(): Promise<readonly string[]> {
    const { host } = this.#to;
    if (isIP(host) !== 0) return [host];
    if (host !== 'localhost') return this.#guard.resolve(host);
    if (!this.#guard.allowLocalhost) throw new SendFailure('ADDRESS_DENIED', 'loopback');
    return LOOPBACK;
  }

  #judge(address: string): void {
    const verdict = this.#guard.allowAddress(address);
    if (!verdict.allowed) throw new SendFailure('ADDRESS_DENIED', verdict.reason);
  }

  /** The socket that is going to be used, not what was said about it before. */
  #judgeSocket(tcp: Socket, addresses: readonly string[]): void {
    const { remoteAddress } = tcp;
    if (remoteAddress === undefined) throw new SendFailure('CONNECT', 'ECONNRESET');
    this.#judge(remoteAddress);
    if (!addresses.includes(remoteAddress)) throw new SendFailure('ADDRESS_DENIED', 'not of the answer');
  }

  async #secure(tcp: Socket): Promise<TLSSocket> {
    const { host } = this.#to;
    const socket = connectTls({
      socket: tcp,
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      secureContext: this.#guard.secureContext,
      ALPNProtocols: ['http/1.1'],
      // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment changes nothing.
      rejectUnauthorized: true,
    });
    this.#socket = socket;
    await opened(socket, 'secureConnect', tlsFailure);
    this.#guard.onOpen();
    socket.once('close', this.#guard.onClose);
    return socket;
  }
}

function tlsFailure(error: unknown): SendFailure {
  const code = codeOf(error, 'TLS_FAILED');
  return new SendFailure(isTlsCode(code) ? 'TLS' : 'CONNECT', code, error);
}

/** Resolves with the event, rejects with an early error or close; an error listener stays on for the socket's life. */
function opened(socket: Socket, event: string, describe: (error: unknown) => SendFailure): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.on('error', (error) => reject(describe(error)));
    socket.once('close', () => reject(describe({ code: 'ECONNRESET' })));
  });
}

/** Never asks anyone: gives back what was vetted, in the form Node asks for (`all` with happy eyeballs). */
function lookupAmong(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    const [first] = found;
    if (options.all === true) callback(null, found);
    else callback(null, first?.address ?? '', first?.family ?? 0);
  };
}
