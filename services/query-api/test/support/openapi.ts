import { openApiDocument } from '@webhooks/testkit';

export const { at, faultOf } = openApiDocument(new URL('../../openapi.yaml', import.meta.url));
