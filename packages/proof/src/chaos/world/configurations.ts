import { EVENT_TYPES } from '@webhooks/contracts';
import type { EventType } from '@webhooks/contracts';
import { refOf } from '@webhooks/testkit/account';

/** Receivers, each with a port of its own. Faults of receivers hit the `flaky` ones. */
export const RECEIVERS = ['steady', 'stubborn', 'flaky-1', 'flaky-2'] as const;
export type ReceiverName = (typeof RECEIVERS)[number];

/** What the run does to a configuration. */
type Treatment = 'left-alone' | 'toggled' | 'moved' | 'signed';

/** One configuration of the run, and the path at which its notifications arrive. */
export interface Configuration {
  readonly ref: string;
  readonly tenantId: string;
  readonly eventType: EventType;
  readonly receiver: ReceiverName;
  readonly path: string;
  readonly treatment: Treatment;
}

export const TENANTS = ['acme', 'globex', 'initech'] as const;
type Tenant = (typeof TENANTS)[number];

/** Endpoints of the third tenant. Its events go through `webhooks.fan-outs`, in two slices. */
const LARGE_FAN_OUT = 34;

function configuration(
  tenantId: Tenant,
  eventType: EventType,
  receiver: ReceiverName,
  { name = receiver, treatment = 'left-alone' }: { name?: string; treatment?: Treatment } = {},
): Configuration {
  const path = `/${name}/${tenantId}/${eventType}`;
  return { ref: refOf(path), tenantId, eventType, receiver, path, treatment };
}

/**
 * Two tenants have a steady endpoint for each type and others that misbehave; the third tenant has a large fan-out. Changes hit a
 * steady endpoint, and a stubborn one, where retries are always waiting.
 */
export function planConfigurations(): readonly Configuration[] {
  const steady = (['acme', 'globex'] as const).flatMap((tenantId) =>
    EVENT_TYPES.map((eventType) => configuration(tenantId, eventType, 'steady')),
  );
  return [
    ...steady,
    configuration('acme', 'PIX_STATIC', 'flaky-1'),
    configuration('acme', 'PIX_OUT', 'flaky-2'),
    configuration('acme', 'PIX_REVERSAL', 'steady', { name: 'signed', treatment: 'signed' }),
    configuration('globex', 'PIX_STATIC', 'stubborn'),
    configuration('globex', 'PIX_OUT', 'steady', { name: 'toggled', treatment: 'toggled' }),
    configuration('globex', 'PIX_REVERSAL', 'steady', { name: 'moved', treatment: 'moved' }),
    configuration('globex', 'PIX_STATIC', 'stubborn', {
      name: 'toggled-stubborn',
      treatment: 'toggled',
    }),
    configuration('globex', 'PIX_REVERSAL', 'stubborn', { name: 'moved-stubborn', treatment: 'moved' }),
    ...Array.from({ length: LARGE_FAN_OUT }, (_, index) =>
      configuration('initech', 'PIX_OUT', 'steady', { name: `fan-${index}` }),
    ),
  ];
}

/** Where a moved configuration points after an odd number of moves. */
export const movedPath = ({ path }: Configuration): string => `${path}/elsewhere`;

/** Waits before attempts 2 to 13: as many attempts as the contract has, in less than a minute instead of 76 hours. */
export const RETRY_DELAYS_MS: readonly number[] = [
  1_000, 1_000, 1_000, 2_000, 2_000, 3_000, 5_000, 5_000, 5_000, 6_000, 6_000, 6_000,
];
export const RETRY_JITTER = 0.2;

/** Short delays, so that a run of two minutes sees the end of its deliveries. */
export const WORKER_SETTINGS: Readonly<Record<string, string>> = {
  RETRY_AFTER_MAX: '12s',
  RETRY_DELAYS: RETRY_DELAYS_MS.map((ms) => `${ms}ms`).join(','),
  RETRY_JITTER_PERCENT: String(100 * RETRY_JITTER),
  BREAKER_FIRST_PAUSE: '1s',
  BREAKER_MAX_PAUSE: '4s',
};
