import { dashboard, panel, quantile, rate, share } from './panel.js';

/** Retries wait on purpose. */
const LAG = 'webhook_source_lag_records{source!="retries"}';
const FALL = `-deriv(${LAG}[$__rate_interval])`;
const ATTEMPTS = 'webhook_attempts_total';
const SETTLEMENTS = 'webhook_settlements_total';

/** What whoever is on call opens first: whose fault it is, how bad it is, and how long it will last. */
export const usOrThem = dashboard('us-or-them', 'Webhooks: us or them?', [
  panel('Is it us or them?', 's', {
    about:
      'The canary pays through all parts of ours to an endpoint of ours. It is slow or absent: us. It is in time while deliveries fail: them.',
    '{{leg}} p99': quantile(0.99, 'canary_leg_seconds', 'leg'),
  }),
  panel('How long has a canary payment been missing?', 's', {
    about: 'Normal: 0. The first leg that grows names the part: ingest, Kafka and workers, or query-api.',
    '{{leg}}': 'max by (leg) (canary_oldest_missing_seconds)',
  }),
  panel('How do canary payments end?', 'suffix:/s', {
    about: 'Normal: one result, steadily. Nothing: no canary runs. Then start one, or ignore its panels.',
    '{{result}}': rate('canary_payments_total', 'result'),
  }),
  panel('How old is the oldest undelivered event?', 's', {
    about:
      'Normal: below 2 s, and up to 32 s while one endpoint hangs. No line: no worker reads. Runbook: EventsWait.',
    '{{instance}}': 'max by (instance) (webhook_source_lag_seconds{source="events"})',
    alert: 'vector(60)',
  }),
  panel('Do first attempts begin in time?', 's', {
    about: 'After the event is in Kafka. Objective: p99.9 below 1.5 s. Runbook: FirstAttemptsLate.',
    p50: quantile(0.5, 'webhook_first_attempt_delay_seconds'),
    p99: quantile(0.99, 'webhook_first_attempt_delay_seconds'),
    'p99.9': quantile(0.999, 'webhook_first_attempt_delay_seconds'),
    objective: 'vector(1.5)',
  }),
  panel('What share of attempts fails?', 'percentunit', {
    about:
      'Refused: them. No response: them, but at all hosts our network. 0 beside much deferred: breakers are open. Runbook: MostDeliveriesWait.',
    'refused (3xx to 5xx)': share(`${ATTEMPTS}{outcome=~"[345]xx"}`, ATTEMPTS),
    'without a response': share(`${ATTEMPTS}{outcome!~".xx"}`, ATTEMPTS),
  }),
  panel('What share of decisions is to try later?', 'percentunit', {
    about: 'Normal: below 10 %, by our fault 0. Runbook: MostDeliveriesWait, DeferredByOurFault.',
    retried: share(`${SETTLEMENTS}{kind="retry"}`, SETTLEMENTS),
    deferred: share(`${SETTLEMENTS}{kind="deferred"}`, SETTLEMENTS),
    'deferred by our fault': share(`${SETTLEMENTS}{kind="deferred",reason="fault"}`, SETTLEMENTS),
  }),
  panel('How much does each worker deliver?', 'suffix:/s', {
    about: 'Normal: all alike. One far below: read its /readyz. All alike while events wait: add workers.',
    '{{instance}}': rate(`${SETTLEMENTS}{kind="delivered"}`, 'instance'),
  }),
  panel('How long until new events no longer wait?', 's', {
    about:
      'Lag divided by its fall, without retries. Nothing: it does not fall; add workers. Runbook: EventsWait.',
    '{{source}}': `sum by (source) (${LAG}) / (sum by (source) (${FALL}) > 0) or sum by (source) (${LAG}) == 0`,
  }),
  panel('Which alerts fire, and which are pending?', 'short', {
    about: 'Normal: nothing. Each name has a page in deploy/runbook.',
    '{{alertstate}} {{severity}} {{alertname}}': 'sum by (alertstate, severity, alertname) (ALERTS)',
  }),
]);
