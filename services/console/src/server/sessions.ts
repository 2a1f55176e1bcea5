import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import type { Session } from './issuer.js';

/** A session ends this long after its last request. */
const IDLE_MS = 30 * 60_000;
/** A session ends this long after the sign-in. */
const LIFETIME_MS = 8 * 3_600_000;
/** Sessions in memory, of about 10 KiB each; beyond it the one that was used least recently ends. */
const MAX_SESSIONS = 10_000;

/** Attributes of every cookie: for this host alone, not for scripts, not with requests of other sites. */
const ATTRIBUTES = { httpOnly: true, secure: true, sameSite: 'lax', path: '/' } as const;

/** A cookie that only this host can set (`__Host-`). `maxAge`: milliseconds; default: until the browser ends. */
export function createCookie(name: string, maxAge?: number) {
  return {
    read: ({ headers }: Request): string | undefined => {
      const found = (headers.cookie ?? '').split('; ').find((one) => one.startsWith(`__Host-${name}=`));
      return found?.slice(`__Host-${name}=`.length);
    },
    write: (response: Response, value: string): void =>
      void response.cookie(`__Host-${name}`, value, { ...ATTRIBUTES, ...(maxAge && { maxAge }) }),
    clear: (response: Response): void => void response.clearCookie(`__Host-${name}`, ATTRIBUTES),
  };
}

/** Creates the sessions of this process. A restart ends them, and the issuer signs the person in again. */
export function createSessions() {
  const cookie = createCookie('console');
  const sessions = new LRUCache<string, Session & { readonly endsAt: number }>({
    max: MAX_SESSIONS,
    ttl: IDLE_MS,
    perf: { now: () => Date.now() },
    updateAgeOnGet: true,
  });
  return {
    /** Returns the session of a request; undefined without one, or when it has ended. */
    find: (request: Request): Session | undefined => {
      const session = sessions.get(cookie.read(request) ?? '');
      return session && Date.now() < session.endsAt ? session : undefined;
    },
    /** Begins a session with a new id, and sets its cookie. The one that this browser had ends. */
    begin: (request: Request, response: Response, session: Session): void => {
      sessions.delete(cookie.read(request) ?? '');
      const id = randomBytes(32).toString('base64url');
      sessions.set(id, Object.assign(session, { endsAt: Date.now() + LIFETIME_MS }));
      cookie.write(response, id);
    },
    /** Ends the session of a request, so that its cookie is useless from now on. */
    end: (request: Request, response: Response): void => {
      sessions.delete(cookie.read(request) ?? '');
      cookie.clear(response);
    },
  };
}

export type Sessions = ReturnType<typeof createSessions>;
