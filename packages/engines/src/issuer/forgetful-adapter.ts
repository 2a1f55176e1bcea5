import type { Adapter } from 'oidc-provider';

/**
 * A store that keeps nothing: clients are given in the configuration and JWT access tokens are never stored, so the
 * client-credentials grant has nothing to remember.
 */
export class ForgetfulAdapter implements Adapter {
  upsert(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
  find(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
  findByUid(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
  consume(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
  destroy(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
  revokeByGrantId(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}
