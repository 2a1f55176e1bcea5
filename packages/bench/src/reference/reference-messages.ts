/** What a reference process is started with, as JSON in its first argument. */
export interface ReferencePlan {
  /** Address of the endpoint. */
  readonly url: string;
  readonly caFile: string;
  readonly posts: number;
  /** Posts before the measurement, so that it measures compiled code and open connections. */
  readonly warmUp: number;
  /** Posts under way at any time, each on a connection of its own. */
  readonly concurrency: number;
  readonly seed: number;
  /** How undici is asked: `dispatch` is its cheapest way, `request` the usual one. */
  readonly by: 'dispatch' | 'request';
  /** Where it writes what was answered with 200. */
  readonly file: string;
}

export interface ReferenceReport {
  readonly kind: 'measured';
  readonly seconds: number;
  /** User and system time of the process, in microseconds. */
  readonly cpuMicros: number;
  readonly rssBytes: number;
  readonly peakBytes: number;
}
