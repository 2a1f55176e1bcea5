import { DEFAULT_TENANTS, PAYMENT_SYSTEM, planClients } from '../../src/stack/clients.js';

const clients = planClients(['initech', 'acme'], { keyring: '', clientSecret: (id) => `secret of ${id}` });

it('there is one client for each tenant, the default ones first, and one for a payment system', () => {
  const tenants = [...DEFAULT_TENANTS, 'initech'];
  expect(clients.map(({ clientId }) => clientId)).toEqual([
    ...tenants.map((id) => `${id}-app`),
    PAYMENT_SYSTEM,
  ]);
});

it('only the payment system may write events of every tenant, and it may do nothing else', () => {
  const mighty = clients.filter(({ scopes }) => scopes.includes('event.write.any'));
  expect(mighty).toMatchObject([{ clientId: PAYMENT_SYSTEM, scopes: ['event.write.any'] }]);
});
