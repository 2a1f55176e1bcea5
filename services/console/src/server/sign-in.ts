import { randomBytes } from 'node:crypto';
import { AppError } from '@webhooks/http-api';
import { Router, type Request } from 'express';
import { EncryptJWT, jwtDecrypt } from 'jose';
import type { Issuer, PendingSignIn } from './issuer.js';
import { createCookie, type Sessions } from './sessions.js';

/** How long a person may take at the issuer's page, milliseconds. */
const SIGN_IN_MS = 600_000;

/** A path of this origin, which fits into a cookie; anything else becomes `/`. Browsers read `//host` and `/\host` as another origin. */
const pathOfOurs = (text: unknown): string =>
  typeof text === 'string' && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,2000}$/.test(text) ? text : '/';

type Started = PendingSignIn & { readonly path: string };

/** Seals a sign-in under way into a cookie, so that nothing has to be stored for a stranger. */
function createSeal() {
  const key = randomBytes(32);
  return {
    seal: (started: Started): Promise<string> =>
      new EncryptJWT({ ...started })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setExpirationTime(new Date(Date.now() + SIGN_IN_MS))
        .encrypt(key),
    open: (text: string): Promise<Started> =>
      jwtDecrypt<Started>(text, key).then(
        ({ payload }) => payload,
        (cause: unknown) => {
          throw new AppError('invalid-token', 'this sign-in was not begun here, or too long ago', { cause });
        },
      ),
  };
}

const queryOf = ({ url }: Request): string => /\?.*$/.exec(url)?.[0] ?? '';

/** Each sign-in has a cookie of its own, so that several tabs can sign in at once. */
const cookieOf = (state: string) => createCookie(`sign-in-${/^[\w-]{8}/.exec(state)?.[0] ?? ''}`, SIGN_IN_MS);

/** The routes of signing in and out. A wrong callback leads into no session. */
export function createSignIn(issuer: Issuer, sessions: Sessions): Router {
  const { seal, open } = createSeal();
  const router = Router();
  router.get('/sign-in', async (request, response) => {
    const { url, pending } = await issuer.begin();
    const path = pathOfOurs(new URLSearchParams(queryOf(request)).get('return'));
    cookieOf(pending.state).write(response, await seal({ ...pending, path }));
    response.redirect(303, url);
  });
  router.get('/callback', async (request, response) => {
    const query = queryOf(request);
    const cookie = cookieOf(new URLSearchParams(query).get('state') ?? '');
    const sealed = cookie.read(request) ?? '';
    cookie.clear(response);
    const { path, ...pending } = await open(sealed);
    sessions.begin(request, response, await issuer.finish(query, pending));
    response.redirect(303, path);
  });
  router.get('/sign-out', async (request, response) => {
    // Another site must not sign anybody out. A page of ours comes here by itself.
    if (request.get('sec-fetch-site') !== 'same-origin')
      throw new AppError('insufficient-scope', 'only a page of this console may sign out');
    const session = sessions.find(request);
    sessions.end(request, response);
    response.redirect(303, await issuer.signOutUrl(session ?? {}));
  });
  return router;
}
