import { dashboard, increase, panel, quantile, rate, share } from './panel.js';

/** What becomes of events and deliveries, and which endpoints hinder it. */
export const deliveries = dashboard('deliveries', 'Webhooks: deliveries and endpoints', [
  panel('What becomes of events?', 'suffix:/s', {
    about: 'Normal: fanned-out. Runbook: EventsUnmatched, EventsOfUnknownTenant, EventRejected.',
    '{{result}}': rate('webhook_events_total', 'result'),
  }),
  panel('How do attempts end?', 'suffix:/s', {
    about: 'Normal: 2xx. One other class at all endpoints: our network. Runbook: MostDeliveriesWait.',
    '{{outcome}}': rate('webhook_attempts_total', 'outcome'),
  }),
  panel('What is decided about deliveries?', 'suffix:/s', {
    about: 'Normal: delivered. breaker, busy: their endpoint. fault: us. Runbook: DeferredByOurFault.',
    '{{kind}} {{reason}}': rate('webhook_settlements_total', 'kind', 'reason'),
  }),
  panel('How long does an attempt take?', 's', {
    about: 'Time of their endpoint and the network. Normal: below 1 s. At 10 s their endpoint hangs.',
    'p50 of all': quantile(0.5, 'webhook_attempt_duration_seconds'),
    'p99 {{outcome}}': quantile(0.99, 'webhook_attempt_duration_seconds', 'outcome'),
  }),
  panel('How long until an event is delivered?', 's', {
    about: 'From Kafka to the 2xx, retries included. Normal: p50 below 1 s. p99 has the retried ones.',
    p50: quantile(0.5, 'webhook_delivery_seconds'),
    p99: quantile(0.99, 'webhook_delivery_seconds'),
  }),
  panel('How late do retries begin?', 's', {
    about: 'After their due time. Normal: below 1 s. Quantiles end at 30 s. Runbook: RetriesLate.',
    p50: quantile(0.5, 'webhook_retry_lateness_seconds'),
    p99: quantile(0.99, 'webhook_retry_lateness_seconds'),
    mean: share('webhook_retry_lateness_seconds_sum', 'webhook_retry_lateness_seconds_count'),
    'alert on the mean': 'vector(60)',
  }),
  panel('What do the workers have in hand?', 'short', {
    about: 'Queued: slow endpoints. Tried again above 0: Kafka takes no writes. Runbook: EventsWait.',
    'attempts in flight': 'sum(webhook_attempts_in_flight)',
    'queued for their endpoint': 'sum(webhook_deliveries_queued)',
    '{{source}} in flight': 'sum by (source) (webhook_source_in_flight)',
    '{{source}} tried again': 'sum by (source) (webhook_source_retrying)',
  }),
  panel('How many breakers are open?', 'short', {
    about: 'Once for each worker that knows the endpoint. /endpoints of the workers lists them, and why.',
    '{{breaker}}': 'sum by (breaker) (webhook_endpoints)',
  }),
  panel('How many deliveries ended as dead letters?', 'short', {
    about: 'Normal: 0. Tell the integrator, and send them again later. Runbook: DeliveryDied.',
    '{{reason}}': increase('webhook_settlements_total{kind="dead"}', 'reason'),
  }),
  panel('When does a client certificate expire?', 's', {
    about: 'Nothing without one. Runbook: ClientCertificateExpires, EndpointCertificateExpires.',
    ours: 'min(webhook_client_certificate_expiry_timestamp_seconds) - time()',
    'of a webhook': '(min(webhook_endpoint_certificate_expiry_timestamp_seconds) < Inf) - time()',
    'alert below': 'vector(30 * 86400)',
  }),
  panel('Does a tenant cost too much CPU time?', 'short', {
    about: 'How often handshakes of one moved to another thread. Normal: 0. Runbook: TenantIsolated.',
    'tenants isolated': increase('webhook_tenants_isolated_total'),
  }),
]);
