/** The sentences of verdicts in English. A name in braces is a value. */
export const EN = {
  verdicts: {
    delivered: '{event}: delivered to {endpoint} at {at}, by attempt {attempt}.',
    'delivered-late':
      '{event}: delivered late to {endpoint}, at {at}, by attempt {attempt}. The event came at {receivedAt}. {cause}',
    repeated:
      '{event}: delivered {count} times to {endpoint} with the same id, from {at} to {last}: {reason}. A receiver ignores an id that it knows.',
    refused: '{event}: {endpoint} responded with status {error} at {failedAt}. {cause} Next attempt: {next}.',
    unreachable:
      '{event}: no response from {endpoint} at {failedAt} ({error}). {cause} Next attempt: {next}.',
    waiting: '{event}: waits for its next attempt at {endpoint}: {next}.',
    paused:
      '{event}: waits because {endpoint} fails and is paused. {cause} Next attempt at this endpoint: {next}; this one follows a success.',
    deferred: '{event}: waits for {endpoint} because of a fault of the platform. Next attempt: {next}.',
    ending: '{event}: waits for {endpoint}, and is cancelled when due: {reason}. Due: {next}.',
    dead: '{event}: given up for {endpoint} at {at}: {reason}. {cause}',
    cancelled: '{event}: cancelled for {endpoint} at {at}: {reason}.',
    'disabled-then':
      '{event}: not sent to {endpoint}. The webhook was disabled when the event came, at {receivedAt}.',
    'registered-later':
      '{event}: not sent to {endpoint}. The webhook was registered at {createdAt}, and the event came at {receivedAt}.',
    'other-type-then':
      '{event}: not sent to {endpoint}. The webhook received {type} when the event came, at {receivedAt}.',
    'no-webhook': '{event}: not sent. No webhook receives this type. The event came at {receivedAt}.',
    'not-reported': 'The payment system has reported no payment with this id.',
    test: '{event}: a test. Nothing was paid.',
    'log-expired': '{event}: older than the log, which no longer shows where it was delivered.',
  },
  words: {
    event: '{eventType} of {amount}',
    due: 'due now, or under way',
    redelivery: 'it was sent again',
    attempt: 'the event or an attempt was repeated',
    unsigned: 'The webhook has no signing secret, so nothing is signed: make one (webhooks rotate-secret).',
    'attempts-exhausted': 'all attempts failed',
    expired: 'its time was over',
    'configuration-unknown': 'the platform did not know the webhook',
    'not-handled': 'the platform could not process it',
    disabled: 'the webhook was disabled',
    'event-type-changed': 'the webhook was changed to another event type',
    'application-changed': 'the webhook was changed to another application',
  },
} as const;
