/** The headers of a notification without signature, as the worker sends them: same names, same lengths. */
export const notificationHeaders = (id: string): string[] => [
  'content-type',
  'application/json',
  'user-agent',
  'webhooks/1',
  'webhook-id',
  id,
  'webhook-timestamp',
  String(Math.floor(Date.now() / 1_000)),
  'webhook-attempt',
  '1',
];
