import type { ApiDefaults } from '../../src/index.js';

/** No limit for tenants. */
export const API_DEFAULTS: ApiDefaults = { port: 1, maxOpenRequests: 1_024, tenantRequestsPerSecond: 0 };
