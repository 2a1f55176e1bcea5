import type { OnReadOpts, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { SendFailure } from './send-failure.js';

/** CPU time of one piece of a handshake that costs no rest, milliseconds: most take 2 to 5, with P-521 or beside other load 15. */
const USUAL_MS = 20;
/** Rest for each millisecond beyond that: a tenant takes a tenth of our thread at most. */
const REST_TIMES = 9;
/** Each handshake of a tenant reads for so long in turn, milliseconds. At half, the timer costs twice as much, 0.4 % of the thread. */
const TURN_MS = 5;
/** CPU time of a record full of tickets, milliseconds: OpenSSL takes all 900 of them. */
const FLOOD_MS = 16;

/** CPU time of a record of TLS at most, milliseconds: that of a key update. The clock of CPU time may be too coarse to see it. */
const RECORD_MS = 0.025;
/** In one read without a rest: a response has two or three, and 1,000 responses may come at once. */
const FEW_RECORDS = 16;
/** What each record but those of a handshake begins with, after its kind, and bytes of the shortest. */
const [VERSION, RECORD_BYTES] = [Buffer.of(3, 3), 22];

/** Where every connection reads; what came is handed on at once. As long as a record of TLS. */
const READ = Buffer.allocUnsafeSlow(16_384);

/** No connection within the connect time-out, because the handshakes of this tenant rested: no fault of this endpoint. */
export class ThrottledError extends SendFailure {
  constructor() {
    super('CONNECT', 'THROTTLED');
  }
}

/** What Node's handles of sockets have, and its types do not. */
interface Handle {
  readStart(): void;
  readStop(): void;
  /** Of TCP: from now on reads go into this buffer and to `onread`, not to who listened before. */
  useUserBuffer(buffer: Buffer): void;
  /** Of TLS: takes bytes as if they had been read. */
  receive(bytes: Buffer): void;
}

/** If they may be many. Random bytes look like the head of one once in 64 KiB. */
function countRecords(bytes: Buffer): number {
  if (bytes.length < FEW_RECORDS * RECORD_BYTES) return 0;
  let records = 0;
  for (let at = bytes.indexOf(VERSION); at >= 0; at = bytes.indexOf(VERSION, at + VERSION.length))
    records += 1;
  return records;
}

const handleOf = (socket: Socket): Handle | null => (socket as unknown as { _handle: Handle | null })._handle;

/**
 * A TLS connection of a tenant. What comes is counted before OpenSSL has it, and measured while it computes. Bytes of TLS are those
 * that are not of HTTP: tickets, key updates, heads of records.
 */
export class SecuredSocket {
  readonly tls: TLSSocket;
  readonly tenant: TenantHandshakes;
  #mostBytes: number;
  /** Since they were allowed. */
  #received = 0;
  #plainBefore = 0;

  /** `tls` lies on `tcp`, which was connected with `readingInto` this. `mostBytes` may come in the handshake. */
  constructor(tcp: Socket, tls: TLSSocket, tenant: TenantHandshakes, mostBytes: number) {
    this.tls = tls;
    this.tenant = tenant;
    this.#mostBytes = mostBytes;
    handleOf(tcp)?.useUserBuffer(READ);
    tcp.once('end', () => tls.push(null));
  }

  get #isFlooded(): boolean {
    const received = this.#received;
    return (
      received > this.#mostBytes && received - (this.tls.bytesRead - this.#plainBefore) > this.#mostBytes
    );
  }

  /** What was read. */
  receive(bytes: Buffer): void {
    this.#received += bytes.length;
    if (this.tenant.isUnderWay(this)) {
      if (this.#isFlooded) return this.endAsFlood();
      return this.tenant.measure(() => handleOf(this.tls)?.receive(bytes));
    }
    const records = countRecords(bytes);
    handleOf(this.tls)?.receive(bytes);
    if (this.#isFlooded) this.endAsFlood();
    else if (records > FEW_RECORDS) this.tenant.pause(RECORD_MS * records);
  }

  /** From now on so many bytes of TLS may come. */
  allow(bytes: number): void {
    this.#mostBytes = bytes;
    this.#received = 0;
    this.#plainBefore = this.tls.bytesRead;
  }

  /** Ends it, and its tenant's connections rest: the next flood needs a connection or a turn. */
  endAsFlood(): void {
    this.tenant.pause(FLOOD_MS);
    this.tls.destroy(new SendFailure('PROTOCOL', 'TLS_FLOOD'));
  }

  /** By Node's own handle: nothing above it reads before the handshake has ended. */
  setReading(isReading: boolean): void {
    if (isReading) handleOf(this.tls)?.readStart();
    else handleOf(this.tls)?.readStop();
  }
}

/** The option `onread` of a TCP connection. */
export const readingInto = (socket: () => SecuredSocket | undefined): OnReadOpts => ({
  buffer: READ,
  callback: (length) => {
    socket()?.receive(READ.subarray(0, length));
    return true;
  },
});

/**
 * The handshakes of one tenant, which share a budget of our thread's CPU time: it does not pass while other processes have the core.
 * One reads at a time: no turn of the event loop has two costly ones.
 */
export class TenantHandshakes {
  readonly #open = new Set<SecuredSocket>();
  /** The next to read first. */
  readonly #underWay = new Set<SecuredSocket>();
  #reader: SecuredSocket | undefined;
  #turns: NodeJS.Timeout | undefined;
  #restsUntil = 0;

  /** For how long they still rest, milliseconds; 0 or less: they do not. */
  get restMs(): number {
    return this.#restsUntil - performance.now();
  }

  isUnderWay(socket: SecuredSocket): boolean {
    return this.#underWay.has(socket);
  }

  /** To be called as soon as its handshake has begun; `ended` settles with that. It reads when its turn comes. */
  async add(socket: SecuredSocket, ended: Promise<void>): Promise<void> {
    this.#open.add(socket);
    socket.tls.once('close', () => this.#open.delete(socket));
    // From now on a silent one holds up none.
    this.#turns ??= setInterval(() => this.#takeTurn(), TURN_MS).unref();
    this.#underWay.add(socket);
    // Node itself begins to read in this tick.
    process.nextTick(() => {
      if (socket !== this.#reader) socket.setReading(false);
    });
    if (this.#reader === undefined) this.#readNext();
    await ended.finally(() => this.#delete(socket));
  }

  /** Does a piece of a handshake. */
  measure(work: () => void): void {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    const beyondMs = (user + system) / 1_000 - USUAL_MS;
    if (beyondMs > 0) this.#rest(beyondMs);
  }

  /** Its established connections do not read meanwhile, either: one flood a turn of the event loop is worked on. */
  pause(pieceMs: number): void {
    this.#rest(pieceMs);
    const sockets = [...this.#open].filter((socket) => !this.#underWay.has(socket));
    for (const socket of sockets) socket.setReading(false);
    setTimeout(() => {
      for (const socket of sockets) socket.setReading(true);
    }, this.restMs).unref();
  }

  /** For so much CPU time; a rest that ends later stays. */
  #rest(pieceMs: number): void {
    this.#restsUntil = Math.max(this.#restsUntil, performance.now() + REST_TIMES * pieceMs);
    this.#endTurn();
  }

  #delete(socket: SecuredSocket): void {
    this.#underWay.delete(socket);
    socket.setReading(true);
    if (socket === this.#reader) this.#readNext();
    if (this.#underWay.size > 0) return;
    clearInterval(this.#turns);
    this.#turns = undefined;
  }

  #takeTurn(): void {
    if (this.#reader === undefined || this.#underWay.size > 1) this.#endTurn();
  }

  #endTurn(): void {
    const reader = this.#reader;
    reader?.setReading(false);
    if (reader !== undefined && this.#underWay.delete(reader)) this.#underWay.add(reader);
    this.#readNext();
  }

  #readNext(): void {
    const [next] = this.#underWay;
    this.#reader = this.restMs > 0 ? undefined : next;
    this.#reader?.setReading(true);
  }
}
