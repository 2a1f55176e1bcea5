import { areZero, parseLags } from '../../src/account/progress.js';

const METRICS = `# HELP query_projection_lag_records Records that are not projected yet
# TYPE query_projection_lag_records gauge
query_projection_lag_records{projection="attempts"} 12
query_projection_lag_records{projection="events",service="query-api"} 0

# TYPE query_projection_lag_seconds gauge
query_projection_lag_seconds{projection="attempts"} 1.5
query_projection_lag_seconds{projection="events",service="query-api"} 0
query_configurations 3
`;

const lag = (projection: string, records: number, seconds = 0) => ({ projection, records, seconds });

describe('the lags of the projections', () => {
  it('are read from the metrics', () => {
    expect(parseLags(METRICS)).toEqual([lag('attempts', 12, 1.5), lag('events', 0)]);
  });

  it('are not zero while none is reported', () => {
    expect(parseLags('query_configurations 3\n')).toEqual([]);
    expect(areZero([])).toBe(false);
    expect(areZero([lag('attempts', 0), lag('events', 1)])).toBe(false);
    expect(areZero([lag('attempts', 0), lag('events', 0)])).toBe(true);
  });
});
