// The chosen numbers of this package. `wire` imports nothing and has its own; what the protocol fixes stands where it is used.

// Tries
/** Wait after the first failure, milliseconds. Each further failure doubles it. */
export const RETRY_FIRST_MS = 100;
/** Longest wait between two tries, milliseconds. */
export const RETRY_LONGEST_MS = 1_000;
/** Longest wait between two calls of a record's handler, milliseconds. Each call may repeat work, and writes one log line. */
export const HANDLE_RETRY_LONGEST_MS = 10_000;
/** Polling interval of `until`, milliseconds. */
export const POLL_MS = 5;

// Connections
export const CONNECT_TIMEOUT_MS = 3_000;
export const REQUEST_TIMEOUT_MS = 15_000;
/** Interval of TCP keep-alive probes, milliseconds. */
export const KEEP_ALIVE_MS = 60_000;
/** Greatest ages of metadata, milliseconds. New partitions and moved leaders are noticed after it, or sooner by a refusal. */
export const SOURCE_METADATA_MS = 10_000;
export const SINK_METADATA_MS = 60_000;
/** Of tables and administrative calls. */
export const TABLE_METADATA_MS = 5_000;

// Group
/** How long a handover waits for records in flight, milliseconds. Meanwhile nobody handles the partition. */
export const HANDOVER_GRACE_MS = 1_000;
/**
 * The least that brokers allow (`group.min.session.timeout.ms`). A killed member that does not return is replaced after it, and a member
 * that does not join a rebalance within it is left out.
 */
export const SESSION_TIMEOUT_MS = 6_000;
/** A heartbeat reports a rebalance, which then waits up to 1 s for records in flight: together less than 2 s. */
export const HEARTBEAT_MS = 500;
/** Default of `fatalAfterMs`. Restarting the process would not shorten a shorter outage of the coordinator. */
export const FATAL_AFTER_MS = 300_000;
/** A killed process repeats what was settled since its last commit: 50 records at 1,000 a second. Twice as long doubles them. */
export const COMMIT_INTERVAL_MS = 100;

// Fetches
/**
 * Bytes of one response. It is copied three times: as read, as a whole, and by partition. Twice as much would be mapped anew by the
 * allocator each time (from 1 MiB on). Half as much doubles the requests of a backlog. A single larger batch still comes whole.
 */
export const MAX_RESPONSE_BYTES = 960 * 1024;
/** The broker holds a fetch that follows records for this long. Each empty response doubles it, up to the longest wait. */
export const FETCH_WAIT_MIN_MS = 25;
/** The broker holds a source's fetch that finds nothing for this long, so that an idle source sends four requests a second. */
export const FETCH_WAIT_MAX_MS = 250;
/** A sink writes up to 30 s after the time of a record. The other 30 s are for clocks that differ. */
export const TRUNCATION_MARGIN_MS = 60_000;

// Source
export const LIVE = {
  /** Leaves the broker time to gather records. Without it a steady stream takes a fetch for each of them. */
  fetchIntervalMs: 2,
} as const;
export const DELAYED = {
  /** Far below any delay. Each fetch names all partitions of all tiers, so fewer fetches cost less. */
  fetchIntervalMs: 50,
  /** Small, because there are many partitions (tiers × partitions) and most of them wait with one block. */
  fetchBytes: 64 * 1024,
  readAhead: 0,
} as const;
/** Records taken in one turn of the event loop. A turn of 1,000 would delay everything else by 150 ms. */
export const TURN_RECORDS = 32;
/** Offsets that a partition may read beyond its watermark: 6,000 records a second for 32 s, while one attempt hangs for 30 s. */
export const MAX_SPAN = 200_000;
/** Records that are due sooner wait in memory, milliseconds. Half as long moves more records, and each move is a write. */
export const MAX_HEAP_WAIT_MS = 5_000;
/** Records in memory. As many small ones, with their bookkeeping, take about as much memory as the bytes below. */
export const MAX_WAITING = 50_000;
export const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** How often the retention of topics is read, milliseconds. */
export const RETENTION_READ_MS = 60_000;

// Sink
export const SINK = {
  /** A first record waits this long for others, milliseconds. Without it each record would take a request of its own. */
  lingerMs: 2,
  /** Records of one request. A broker writes this many small ones within milliseconds. */
  maxBatchRecords: 1_000,
  /** Bytes that wait for an acknowledgement. Beyond it `send` rejects with `SinkOverloaded`. */
  maxPendingBytes: 64 * 1024 * 1024,
};
/** Bytes of one partition's batch: below the broker's default limit of 1 MiB. A larger record goes alone. */
export const MAX_BATCH_BYTES = 900 * 1024;
/** The election of a leader takes some seconds. */
export const SEND_DEADLINE_MS = 30_000;
export const CLOSE_DEADLINE_MS = 5_000;
/** One timer checks all deadlines this often, so that each is noticed at most this late. */
export const SWEEP_MS = 50;

// Table
/** An idle partition proves its end this often, milliseconds, so the proof is at most about 400 ms old. */
export const TABLE_FETCH_WAIT_MS = 200;
/** Greatest age of a proof for `isFresh`, milliseconds. A longer one would count reads from a broker that is already replaced. */
export const FRESH_MS = 700;
/** Longest catch-up, far beyond what existing offsets need. Those of a topic that was made anew may never come. */
export const CATCH_UP_MS = 30_000;

// Topics
export const TOPICS_DEADLINE_MS = 30_000;
export const OFFSETS_DEADLINE_MS = 5_000;
/** A fault that lasts longer is a wrong setting or an outage. The elections of a first start are shorter. */
export const LASTING_FAULT_MS = 4_000;
