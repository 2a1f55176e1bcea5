import { makeTopics, startConfigApi } from '../support/start-config-api.js';
import type { RunningConfigApi } from '../support/start-config-api.js';

const PATH = '/integration/v1/egress';

let service: RunningConfigApi;

beforeAll(async () => {
  await makeTopics();
  service = await startConfigApi({
    EGRESS_ADDRESSES: '198.51.100.7, 2001:db8::/48,198.51.100.8/30@2026-12-01T00:00:00Z',
  });
});
afterAll(() => service.stop());

describe('GET /egress', () => {
  it('shows the addresses of the operator, and the start of announced ones', async () => {
    const tenant = await service.tenant();
    const { status, body } = await tenant.call({ method: 'GET', path: PATH });
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [
        { address: '198.51.100.7' },
        { address: '2001:db8::/48' },
        { address: '198.51.100.8/30', validFrom: '2026-12-01T00:00:00Z' },
      ],
      results: 3,
    });
  });

  it('needs a token', async () => {
    expect((await fetch(service.url + PATH)).status).toBe(401);
  });
});

it('GET /egress shows no address without the setting', async () => {
  const other = await startConfigApi();
  const tenant = await other.tenant();
  expect((await tenant.call({ method: 'GET', path: PATH })).body).toEqual({ data: [], results: 0 });
  await other.stop();
});
