import type { PaymentEvent } from '@webhooks/contracts';
import { refOf } from '@webhooks/http-api';
import type { Operation } from '@webhooks/http-api';
import { REQUEST_MS } from '../database.js';
import type { Database } from '../database.js';
import { keepTestEvent } from '../payments/event-store.js';
import { sendTest } from './send-test.js';
import type { SendTestPorts } from './send-test.js';

export interface TestOptions extends Omit<SendTestPorts, 'keepTestEvent'> {
  readonly database: Database;
}

/** `POST …/{ref}/test`: tries an endpoint through the real path. */
export function testOperations({ database, ...ports }: TestOptions): readonly Operation[] {
  const sendPorts = {
    ...ports,
    keepTestEvent: (event: PaymentEvent) => keepTestEvent(database.within(REQUEST_MS), event),
  };
  return [
    {
      method: 'POST',
      path: '/integration/v1/webhooks/:ref/test',
      scopes: ['delivery.write'],
      handle: async (request) => ({
        status: 202,
        body: await sendTest(request.identity.tenantId, refOf(request), sendPorts),
      }),
    },
  ];
}
