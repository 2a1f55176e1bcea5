import { Alarm } from './alarm.js';
import type { DelayedSource, DelayedSourceHealth, DelayedSourceOptions } from './delayed-source-types.js';
import { GroupReader } from './group-reader.js';
import { Handling } from './handling.js';
import { Lane, type Task } from './lane.js';
import type { KafkaRecord } from './record.js';
import type { StopReport } from './source-types.js';
import { WaitingRoom } from './waiting-room.js';
import { WindowGate } from './window-gate.js';

const DEFAULTS = { maxHeapWaitMs: 5_000, maxWaiting: 50_000, maxWaitingBytes: 64 * 1024 * 1024 };
const MAX_SPAN = 200_000;
/** There are many partitions (tiers × partitions) and most of them wait: each holds one small block. */
const BUFFER = { fetchBytes: 64 * 1024, maxChunks: 1 };
/** No wait is that short. A fetch names all partitions, and each record that is parked would be answered by one. */
const FETCH_INTERVAL_MS = 50;
/** Records of one turn of the event loop: a thousand that are due at once would keep everybody else waiting for 150 ms. */
const TURN_RECORDS = 32;
/** When the source stops, what is due within this is waited for; a longer rest is moved. */
const STOP_WAIT_MS = 1_000;

/** Resolves when the group is joined; rejects at `startDeadlineMs`, or when the cluster is closed before. */
export async function openDelayedSource(options: DelayedSourceOptions): Promise<DelayedSource> {
  const source = new TieredSource(options);
  await source.start();
  return source;
}

/**
 * Within a tier the order of append is the order of looking: so one paused position for each partition is all that a
 * million waiting records need, and no record waits behind one that is due later.
 */
class TieredSource implements DelayedSource {
  readonly #options: DelayedSourceOptions;
  readonly #delays: ReadonlyMap<string, number>;
  readonly #now: () => number;
  readonly #gate: WindowGate;
  readonly #room: WaitingRoom;
  readonly #reader: GroupReader;
  readonly #handling: Handling;
  readonly #alarm: Alarm;
  readonly #maxHeapWaitMs: number;
  readonly #maxSpan: number;
  #turn = 0;
  #leftOfTurn = 0;
  #planned = false;
  #ended = false;
  #onQuiet: (() => void) | undefined;

  constructor(options: DelayedSourceOptions) {
    this.#options = options;
    this.#delays = new Map(options.tiers.map(({ topic, delayMs }) => [topic, delayMs]));
    this.#now = options.now ?? Date.now;
    this.#maxHeapWaitMs = options.maxHeapWaitMs ?? DEFAULTS.maxHeapWaitMs;
    this.#maxSpan = options.window.maxSpan ?? MAX_SPAN;
    this.#gate = new WindowGate(options.window);
    const { maxWaiting = DEFAULTS.maxWaiting, maxWaitingBytes = DEFAULTS.maxWaitingBytes } = options;
    this.#room = new WaitingRoom({ maxWaiting, maxWaitingBytes });
    this.#reader = this.#makeReader();
    this.#handling = this.#makeHandling();
    this.#alarm = new Alarm(this.#now, () => this.#plan());
  }

  #makeReader(): GroupReader {
    const onWork = () => this.#plan();
    const emptying = (lane: Lane) => this.#lookAt(lane) <= this.#now();
    return new GroupReader({
      ...this.#options,
      topics: [...this.#delays.keys()],
      fetchIntervalMs: FETCH_INTERVAL_MS,
      gate: this.#gate,
      makeLane: (assigned) => new Lane(assigned, { ...BUFFER, onFetched: onWork, emptying }),
      onWork,
      onReassigned: () => {
        for (const task of this.#room.keepOnly(({ lane }) => lane.assigned)) task.abandon();
      },
      drained: () => this.#empty(),
      endHanding: () => this.#endHanding(),
    });
  }

  #makeHandling(): Handling {
    const { progress } = this.#reader;
    const { release, move, giveUp, kafka } = this.#options;
    return new Handling({
      handle: (record) => {
        const restMs = this.#dueAt(record) - this.#now();
        return restMs > 0 ? move(record, restMs) : release(record);
      },
      giveUp,
      gate: this.#gate,
      log: kafka.log,
      onSettled: () => {
        progress.settled();
        this.#plan();
      },
    });
  }

  async start(): Promise<void> {
    try {
      await this.#reader.start();
    } catch (error) {
      await this.stop({ deadlineMs: 0 });
      throw error;
    }
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      this.#advance();
    });
  }

  #advance(): void {
    if (this.#ended) return;
    this.#leftOfTurn = TURN_RECORDS;
    this.#releaseDue();
    const nextLook = this.#lookIntoTiers();
    // Without room in the window no alarm: the next record that is settled makes room and plans.
    const nextRelease = this.#gate.hasRoom ? (this.#room.nextDue ?? Infinity) : Infinity;
    this.#alarm.set(Math.min(nextLook, nextRelease));
    this.#reader.kick();
    if (this.#leftOfTurn === 0) this.#plan();
    if (this.#room.size === 0 && this.#gate.records === 0) this.#onQuiet?.();
  }

  #releaseDue(): void {
    while (this.#gate.hasRoom && this.#leftOfTurn > 0) {
      const task = this.#room.takeDue(this.#now());
      if (task === undefined) return;
      this.#leftOfTurn -= 1;
      this.#handling.start(task);
    }
  }

  /** Takes what each tier says has waited long enough. Returns when the next one will have. */
  #lookIntoTiers(): number {
    const { lanes } = this.#reader;
    let next = Infinity;
    const first = this.#turn + 1;
    for (let index = 0; index < lanes.length; index += 1) {
      const at = (first + index) % lanes.length;
      const lane = lanes[at];
      if (lane === undefined) continue;
      // Where this turn of the event loop ends, the next one goes on.
      if (this.#leftOfTurn > 0) this.#turn = at;
      this.#takeFrom(lane);
      next = Math.min(next, this.#takeAt(lane));
    }
    return next;
  }

  #takeFrom(lane: Lane): void {
    while (this.#leftOfTurn > 0 && this.#takeAt(lane) <= this.#now()) {
      const task = lane.take();
      if (task === undefined) return;
      this.#leftOfTurn -= 1;
      this.#dispatch(task);
    }
  }

  /**
   * When the next record of the partition can be taken; never while there is no room. What is due, or has to move, needs
   * none in memory: a full one must not hold up other tiers.
   */
  #takeAt(lane: Lane): number {
    const head = lane.peek();
    if (head === undefined || !this.#gate.hasRoom || lane.span >= this.#maxSpan) return Infinity;
    const lookAt = this.#lookAt(lane);
    if (this.#room.hasRoom) return lookAt;
    const due = this.#dueAt(head);
    return due - this.#now() < this.#maxHeapWaitMs ? Math.max(lookAt, due) : lookAt;
  }

  /** When the next record of the partition is to be looked at; never when none is there. */
  #lookAt(lane: Lane): number {
    const head = lane.peek();
    return head === undefined ? Infinity : head.timestamp + (this.#delays.get(lane.topic) ?? 0);
  }

  #dispatch(task: Task): void {
    const due = this.#dueAt(task.record);
    const restMs = due - this.#now();
    if (restMs > 0 && restMs < this.#maxHeapWaitMs) this.#room.add(task, due);
    else this.#handling.start(task);
  }

  #dueAt(record: KafkaRecord): number {
    try {
      const due = this.#options.dueAt(record);
      return due === undefined || Number.isNaN(due) ? -Infinity : due;
    } catch {
      return -Infinity; // unreadable: whoever handles it has to say so
    }
  }

  health(): DelayedSourceHealth {
    return {
      ...this.#reader.health(),
      inFlight: this.#gate.records,
      inFlightBytes: this.#gate.bytes,
      ...this.#handling.health(),
      waiting: this.#room.size,
    };
  }

  async stop({ deadlineMs }: { readonly deadlineMs: number }): Promise<StopReport> {
    const committed = await this.#reader.stop(deadlineMs);
    const unfinished = this.#gate.records + this.#room.size;
    return { drained: unfinished === 0, committed, unfinished };
  }

  /** What still waits is released by the next owner. */
  #endHanding(): void {
    this.#ended = true;
    this.#handling.stop();
    this.#alarm.clear();
  }

  /** Gives back to the tiers what is not due at once, so that the next owner has nothing to repeat. */
  async #empty(): Promise<void> {
    const soon = this.#now() + STOP_WAIT_MS;
    for (const task of this.#room.keepOnly((_, due) => due <= soon)) this.#handling.start(task);
    if (this.#room.size === 0 && this.#gate.records === 0) return;
    await new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
      this.#plan();
    });
  }
}
