import { dashboard, increase, ofService, panel, quantile, rate } from './panel.js';

const BY_OPERATION = ['service', 'operation'];
const REQUESTS = rate('http_requests_total', ...BY_OPERATION);
const FAULTS = rate('http_requests_total{status=~"5.."}', ...BY_OPERATION);

/** What deliveries and their records stand on: Kafka, projections, APIs, the database and the processes. */
export const platform = dashboard('platform', 'Webhooks: Kafka, projections and APIs', [
  panel('How many records wait?', 'short', {
    about: 'Normal: near 0, but retries wait on purpose. Runbook: EventsWait, DeliveriesWait.',
    '{{source}}': 'sum by (source) (webhook_source_lag_records)',
    'projection {{projection}}': 'sum by (projection) (query_projection_lag_records)',
  }),
  panel('How old is the oldest record that waits?', 's', {
    about: 'Normal: below 2 s. A late projection delays no delivery. Runbook: EventsWait, ProjectionBehind.',
    '{{source}}': 'max by (source) (webhook_source_lag_seconds)',
    'projection {{projection}}': 'max by (projection) (query_projection_lag_seconds)',
  }),
  panel('How near is a loss?', 'percentunit', {
    about: 'At 100 % of its retention Kafka deletes a record. Normal: 0. Runbook: RetentionHalfUsed.',
    '{{source}}': 'max by (source) (webhook_retention_used_ratio)',
    alert: 'vector(0.5)',
  }),
  panel('Who does not read, and which topic is missing?', 'bool_yes_no', {
    about: 'Normal: no. Runbook: SourceNotReading, ProjectionNotReading, TopicMissing.',
    '{{source}} does not read': '1 - min by (source) (webhook_source_joined)',
    'projection {{projection}} does not read': '1 - min by (projection) (query_projection_joined)',
    '{{topic}} is missing': 'max by (topic) (webhook_topic_missing)',
  }),
  panel('Are changes of webhooks in force?', 'short', {
    about: 'Normal: 0 unpublished after a second. Runbook: ChangesNotPublished, TopicDiffered.',
    unpublished: 'max(config_api_unpublished_changes)',
    repaired: increase('config_api_topic_repairs_total'),
  }),
  panel('Do all instances know the same webhooks?', 'short', {
    about: 'Normal: the same number at all of a service. Restart the one that differs for minutes.',
    'worker {{instance}}': 'max by (instance) (webhook_configurations)',
    'query-api {{instance}}': 'max by (instance) (query_configurations)',
    'keys of the topic, {{instance}}': 'max by (instance) (config_api_topic_keys)',
  }),
  panel('What could not be read or written?', 'short', {
    about: 'Normal: 0. Runbook: TasksDamaged, EventRejected, RecordsUnreadable, ChangesNotPublished.',
    'tasks damaged': increase('webhook_damaged_tasks_total'),
    'events rejected': increase('webhook_events_total{result="rejected"}'),
    'unreadable for query-api: {{reason}}': increase('query_unreadable_records_total', 'reason'),
    'events not acknowledged': increase('ingest_events_published_total{result="failed"}'),
    'webhooks not acknowledged': increase('config_api_publications_total{result="failed"}'),
    'log lines lost': increase('log_writes_failed_total'),
  }),
  panel('What do callers request, and what is refused?', 'reqps', {
    about: 'Refused for a limit: of a tenant (tenant-…), or for want of room. Runbook: RequestsShed.',
    '{{service}} {{operation}}': REQUESTS,
    'refused: {{service}} {{reason}}': rate('http_requests_shed_total', 'service', 'reason'),
  }),
  panel('What is requested of Kafka?', 'reqps', {
    about:
      'Normal: 5 to 20 Fetch of each instance while nothing happens, and less than 3 requests for an event.',
    '{{service}} {{request}}': rate('kafka_requests_total', 'service', 'request'),
  }),
  panel('What share of requests fails by our fault?', 'percentunit', {
    about: '5xx by service over 5 minutes, and by operation. Normal: 0. Runbook: ApiErrorBudgetBurns.',
    '{{service}}':
      'sum by (service) (service:http_errors:ratio_rate5m >= 0) or 0 * max by (service) (build_info{service=~".*-api|ingest"})',
    '{{service}} {{operation}}': `${FAULTS} / (${REQUESTS} > 0)`,
    objective: 'vector(0.0005)',
  }),
  panel('How long does a request take?', 's', {
    about: 'p99. Normal: below 0.5 s. All operations of a service are slow: its database, or Kafka.',
    '{{service}} {{operation}}': quantile(0.99, 'http_request_duration_seconds', ...BY_OPERATION),
  }),
  panel('Does the database respond?', 's', {
    about: 'Time of a ping. Normal: below 0.05 s. Nothing: it does not respond. Runbook: DatabaseSlow.',
    '{{instance}} {{pool}}': 'max by (instance, pool) (database_ping_seconds)',
    alert: 'vector(0.5)',
  }),
  panel('Are connections to the database left?', 'short', {
    about: 'In use. Normal: below 10. At 50 requests wait for one. Runbook: DatabasePoolFull.',
    '{{instance}} {{pool}}': 'max by (instance, pool) (database_connections_in_use)',
    alert: 'vector(50)',
  }),
  panel('How old are the keys of the token issuer?', 's', {
    about: 'Normal: below 300 s. After a day all tokens are refused. Runbook: IssuerKeysOld.',
    '{{instance}}': 'max by (instance) (token_issuer_keys_age_seconds)',
    alert: 'vector(900)',
  }),
  panel('Which versions run, and what do they lack?', 'short', {
    about: 'Instances, and those with a fault of /readyz. Runbook: ServiceMissing, ServiceNotReady.',
    '{{service}} {{version}}, Node {{node}}': 'count by (service, version, node) (build_info)',
    '{{service}}: {{fault}}': `sum by (service, fault) (${ofService('service_fault')})`,
  }),
  panel('Does the event loop keep up?', 's', {
    about: 'p99 of its lag. Normal: below 0.05 s. More: the process lacks CPU, or a body is large.',
    '{{service}} {{instance}}': ofService('nodejs_eventloop_lag_p99_seconds'),
  }),
  panel('How much memory does each process take?', 'bytes', {
    about: 'Resident. Normal: level. It grows for hours: restart the process, and report it.',
    '{{service}} {{instance}}': ofService('process_resident_memory_bytes'),
  }),
  panel('How much CPU does each process take?', 'percentunit', {
    about: '100 % is one core. Normal: below 70 %. Workers or APIs above it: add instances.',
    '{{service}} {{instance}}': rate('process_cpu_seconds_total', 'service', 'instance'),
  }),
]);
