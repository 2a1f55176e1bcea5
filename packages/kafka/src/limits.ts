// Most tuned numbers of this package, in one table. `wire` has its own. `patch-kafkajs`, `pending-record`, `read-to-end`,
// `credentials` and `connect-kafka` have a few beside their code. Numbers that the protocol fixes are where they
// are used.

// Retries
/** Wait after the first failure, milliseconds. Each further failure doubles it. */
export const RETRY_FIRST_MS = 100;
/** Longest wait between two tries, milliseconds. */
export const RETRY_LONGEST_MS = 1_000;
/**
 * Longest wait between two calls of a record's handler, milliseconds. Each call may repeat work, and writes one log
 * line.
 */
export const HANDLE_RETRY_LONGEST_MS = 10_000;
/** Polling interval of `until`, milliseconds. */
export const POLL_MS = 5;

// Connections
/** Timeout of a TCP and TLS connect to one broker, milliseconds. */
export const CONNECT_TIMEOUT_MS = 3_000;
/** Timeout of one request, milliseconds. Fetches wait at the broker for 500 ms at most. */
export const REQUEST_TIMEOUT_MS = 15_000;
/** Interval of TCP keep-alive probes, milliseconds. */
export const KEEP_ALIVE_MS = 60_000;
/**
 * Maximum age of a source's metadata, milliseconds. New partitions and moved leaders are found after this time, or
 * sooner when a broker refuses a request.
 */
export const SOURCE_METADATA_MS = 10_000;
/** Maximum age of a sink's metadata, milliseconds. */
export const SINK_METADATA_MS = 60_000;
/** Maximum age of the metadata of tables and administrative calls, milliseconds. */
export const TABLE_METADATA_MS = 5_000;

// Group
/** How long a handover waits for records in flight, milliseconds. Meanwhile the partition has no handler. */
export const HANDOVER_GRACE_MS = 1_000;
/**
 * The minimum of brokers (`group.min.session.timeout.ms`), milliseconds. A killed member that does not return is
 * replaced after this time. A member that does not join a rebalance within it is left out.
 */
export const SESSION_TIMEOUT_MS = 6_000;
/**
 * Interval of heartbeats, milliseconds. A heartbeat reports a rebalance, which then waits up to 1 s for records in
 * flight and up to 1 s for a commit.
 */
export const HEARTBEAT_MS = 500;
/** Default of `fatalAfterMs`, milliseconds. Restarting the process would not shorten an outage of the coordinator. */
export const FATAL_AFTER_MS = 300_000;
/**
 * Interval of commits, milliseconds. A killed process repeats the records settled since its last commit: 50 on
 * average at 1,000 a second. Twice the interval doubles them.
 */
export const COMMIT_INTERVAL_MS = 100;

// Fetches
/**
 * Bytes of one response. It is copied three times: as read, as a whole, and by partition. At twice the size the
 * allocator would map each response anew (from 1 MiB on). Half the size doubles the requests of a backlog. A single
 * larger batch still arrives whole.
 */
export const MAX_RESPONSE_BYTES = 960 * 1024;
/**
 * Longest wait of the broker for a fetch after a response with records, milliseconds. Each empty response doubles
 * it, up to the longest wait.
 */
export const FETCH_WAIT_MIN_MS = 25;
/**
 * How far before the committed position's time reading resumes in a truncated log, milliseconds. A sink writes up to
 * 30 s after a record's timestamp. The other 30 s allow for clock skew.
 */
export const TRUNCATION_MARGIN_MS = 60_000;

// Source
/** Fetching of a source whose records are due at once. */
export const LIVE = {
  /**
   * Shortest time between two fetches from one broker, milliseconds. Meanwhile the broker gathers records. Without
   * it, a steady stream needs a fetch for each record.
   */
  fetchIntervalMs: 2,
  /**
   * Longest wait of the broker for records, milliseconds: Kafka's own default. An idle source sends two requests a
   * second, and a partition that it is assigned then waits as long.
   */
  fetchWaitMs: 500,
} as const;
/** Fetching of a source of delayed records. */
export const DELAYED = {
  /** Far below any delay. Each fetch names all partitions of all tiers, so fewer fetches cost less CPU time. */
  fetchIntervalMs: 50,
  /** Shorter, because a partition whose block was taken waits for the current fetch, and its next record may be due. */
  fetchWaitMs: 250,
  /** Small, because there are many partitions (tiers × partitions), and most of them wait with one fetched block. */
  fetchBytes: 64 * 1024,
  /** No block is fetched while one waits. */
  readAhead: 0,
} as const;
/** Records taken in one turn of the event loop. A turn of 1,000 would block everything else for 150 ms. */
export const TURN_RECORDS = 32;
/**
 * Offsets that a partition may read beyond its committable offset. Enough for 6,000 records a second for 32 s, while
 * one attempt hangs for 30 s.
 */
export const MAX_SPAN = 200_000;
/**
 * Records that are due sooner wait in memory, milliseconds. Half as long moves more records, and each move is a
 * write.
 */
export const MAX_HEAP_WAIT_MS = 5_000;
/**
 * Records that may wait in memory. This many small records, with their bookkeeping, take about as much memory as the
 * bytes below.
 */
export const MAX_WAITING = 50_000;
/** Bytes of the records that may wait in memory. */
export const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** How often the retention of topics is read, milliseconds. */
export const RETENTION_READ_MS = 60_000;

// Sink
/** Defaults of a sink. */
export const SINK = {
  /** Time that a first record waits for others, milliseconds. Without it each record would need its own request. */
  lingerMs: 2,
  /** Most records of one request. A broker writes this many small records within milliseconds. */
  maxBatchRecords: 1_000,
  /** Bytes that may wait for an acknowledgement. Beyond it `send` rejects. */
  maxPendingBytes: 64 * 1024 * 1024,
};
/** Bytes of one partition's batch, below the broker's default limit of 1 MiB. A larger record is sent alone. */
export const MAX_BATCH_BYTES = 900 * 1024;
/** Default deadline of `send`, milliseconds. The election of a leader takes some seconds. */
export const SEND_DEADLINE_MS = 30_000;
/** Default time that `close` of a sink waits for pending records, milliseconds. */
export const CLOSE_DEADLINE_MS = 5_000;
/** One timer checks all deadlines at this interval, milliseconds. So a deadline is noticed at most this late. */
export const SWEEP_MS = 50;

// Table
/**
 * Longest wait of the broker for a table's fetch, milliseconds. So an idle partition's last proof of its end is at
 * most about 400 ms old.
 */
export const TABLE_FETCH_WAIT_MS = 200;
/**
 * Maximum age of a proof for `isFresh`, milliseconds. A longer one would accept proofs from a broker that is already
 * replaced.
 */
export const FRESH_MS = 700;
/**
 * Longest catch-up, milliseconds, far beyond what existing offsets need. The offsets of a recreated topic may never
 * be reached.
 */
export const CATCH_UP_MS = 30_000;

// Topics
/** Default deadline for the creation of topics, milliseconds. */
export const TOPICS_DEADLINE_MS = 30_000;
/** Default deadline for a request of end offsets, milliseconds. */
export const OFFSETS_DEADLINE_MS = 5_000;
/**
 * A fault that lasts longer than this, in milliseconds, is a wrong setting or an outage. The elections of a first
 * start are shorter.
 */
export const LASTING_FAULT_MS = 4_000;
/** Interval of the checks of rights and topics, milliseconds: a fault is named within 5 s. */
export const ACCESS_CHECK_MS = 2_000;
