import { GroupReader } from './group-reader.js';
import { Handling } from './handling.js';
import { Lane } from './lane.js';
import type { PartitionPosition, Source, SourceHealth, SourceOptions, StopReport } from './source-types.js';
import { WindowGate } from './window-gate.js';

/** Offsets a partition may be ahead of its watermark: 12 s of 16,000 records a second. */
const MAX_SPAN = 200_000;
/** Under a steady stream: at 2,200 events a second half of them came 8 ms earlier, because both sides had time left. */
const FETCH_INTERVAL_MS = 2;
/** Records of one partition before the next one has its turn. */
const PARTITION_RECORDS = 32;
/** Records of one turn of the event loop: what they begin is written, and what came meanwhile is read, before the next ones. */
const TURN_RECORDS = 64;

/** Resolves when the group is joined; rejects at `startDeadlineMs`, or when the cluster is closed before. */
export async function openSource(options: SourceOptions): Promise<Source> {
  const source = new WindowedSource(options);
  await source.start();
  return source;
}

class WindowedSource implements Source {
  readonly #gate: WindowGate;
  readonly #reader: GroupReader;
  readonly #handling: Handling;
  readonly #maxSpan: number;
  #turn = 0;
  #leftOfTurn = 0;
  #planned = false;

  constructor(options: SourceOptions) {
    const { handle, giveUp, window } = options;
    const { log } = options.kafka;
    this.#gate = new WindowGate(window);
    this.#maxSpan = window.maxSpan ?? MAX_SPAN;
    const onWork = () => this.#plan();
    this.#reader = new GroupReader({
      ...options,
      fetchIntervalMs: FETCH_INTERVAL_MS,
      gate: this.#gate,
      makeLane: (assigned) => new Lane(assigned, { onFetched: onWork }),
      onWork,
      drained: () => this.#gate.idle(),
      endHanding: () => this.#handling.stop(),
    });
    const { progress } = this.#reader;
    this.#handling = new Handling({
      handle,
      giveUp,
      gate: this.#gate,
      log,
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

  /** What happened in one turn of the event loop is answered once. */
  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      this.#handOut();
    });
  }

  #handOut(): void {
    const lanes = this.#reader.lanes;
    this.#leftOfTurn = TURN_RECORDS;
    for (let idle = 0; idle < lanes.length && this.#leftOfTurn > 0 && this.#gate.hasRoom;) {
      this.#turn = (this.#turn + 1) % lanes.length;
      const lane = lanes[this.#turn];
      idle = lane !== undefined && this.#handOutFrom(lane) ? 0 : idle + 1;
    }
    this.#reader.kick();
    if (this.#leftOfTurn === 0) this.#plan();
  }

  /** True when the partition may have more. */
  #handOutFrom(lane: Lane): boolean {
    for (let count = 0; count < PARTITION_RECORDS && this.#leftOfTurn > 0; count += 1) {
      if (!this.#gate.hasRoom || lane.span >= this.#maxSpan) return false;
      const task = lane.take();
      if (task === undefined) return false;
      this.#leftOfTurn -= 1;
      this.#handling.start(task);
    }
    return true;
  }

  resume(): void {
    this.#plan();
  }

  health(): SourceHealth {
    return {
      ...this.#reader.health(),
      inFlight: this.#gate.records,
      inFlightBytes: this.#gate.bytes,
      ...this.#handling.health(),
    };
  }

  positions(): readonly PartitionPosition[] {
    return this.#reader.positions();
  }

  async stop({ deadlineMs }: { readonly deadlineMs: number }): Promise<StopReport> {
    const committed = await this.#reader.stop(deadlineMs);
    const unfinished = this.#gate.records;
    return { drained: unfinished === 0, committed, unfinished };
  }
}
