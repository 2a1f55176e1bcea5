import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionError, ProblemError, UnexpectedAnswerError } from '@webhooks/client';
import type { Client, Webhook } from '@webhooks/client';
import { movedPath } from '../world/configurations.js';
import type { Configuration } from '../world/configurations.js';
import type { Asked, Change } from './changes.js';

export interface ChangerOptions {
  readonly configurations: readonly Configuration[];
  readonly clientOf: (tenantId: string) => Client;
  /** Base URL of config-api. */
  readonly configApi: string;
  readonly originOf: (configuration: Configuration) => string;
  /** Told of every change, once it was answered or failed. */
  readonly onChange: (change: Change) => void;
  readonly stopping: AbortSignal;
}

const PAUSE_MS = 4_000;
const ROTATE_DEADLINE_MS = 10_000;

/** An answer that says no. */
class NoAnswer extends Error {}

type Answer = Pick<Change, 'published' | 'secret'>;

/** What is asked of a configuration in its nth turn. */
function askFor(configuration: Configuration, turn: number): Asked {
  const isOdd = turn % 2 === 1;
  if (configuration.treatment === 'signed') return { what: 'rotate' };
  if (configuration.treatment === 'toggled') return { what: isOdd ? 'enable' : 'disable' };
  return { what: 'move', path: isOdd ? configuration.path : movedPath(configuration) };
}

async function put(
  client: Client,
  configuration: Configuration,
  asked: Exclude<Asked, { what: 'rotate' }>,
  origin: string,
): Promise<Answer> {
  const { ref, eventType, path } = configuration;
  const endpointUrl = `${origin}${asked.what === 'move' ? asked.path : path}`;
  const enabled = asked.what !== 'disable';
  const answer: Webhook = await client.update({ ref, eventType, endpointUrl, enabled });
  return { published: answer.published !== false };
}

/** Asked for without the SDK, which does not tell `published`. */
async function rotate(configApi: string, ref: string, token: string): Promise<Answer> {
  const response = await fetch(`${configApi}/integration/v1/webhooks/${ref}/secret`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(ROTATE_DEADLINE_MS),
  });
  const body: unknown = await response.json();
  if (!response.ok || !isRotation(body)) throw new NoAnswer(`rotation: ${response.status}`);
  return { secret: body.secret, published: body.published !== false };
}

function isRotation(body: unknown): body is { readonly secret: string; readonly published?: unknown } {
  return typeof body === 'object' && body !== null && 'secret' in body && typeof body.secret === 'string';
}

async function ask(configuration: Configuration, asked: Asked, options: ChangerOptions): Promise<Answer> {
  const client = options.clientOf(configuration.tenantId);
  if (asked.what !== 'rotate') return put(client, configuration, asked, options.originOf(configuration));
  return rotate(options.configApi, configuration.ref, await client.token());
}

/** What a service that is down or in trouble brings about: the change was made, or not. */
const isExpected = (error: unknown): boolean =>
  [ProblemError, ConnectionError, UnexpectedAnswerError, NoAnswer, TypeError, DOMException, SyntaxError].some(
    (kind) => error instanceof kind,
  );

async function change(configuration: Configuration, asked: Asked, options: ChangerOptions): Promise<Change> {
  const about = { ref: configuration.ref, asked, askedAt: Date.now() };
  try {
    const answer = await ask(configuration, asked, options);
    return { ...about, ...answer, answeredAt: Date.now() };
  } catch (error) {
    if (isExpected(error)) return about;
    throw error;
  }
}

/**
 * Changes what may be changed, one after the other and again and again: disabled and enabled, moved and moved back, a new
 * secret. A failed change is asked for again in the next turn, so that turns alternate by what was answered.
 */
export async function makeChanges(options: ChangerOptions): Promise<void> {
  const treated = options.configurations.filter(({ treatment }) => treatment !== 'left-alone');
  const turns = new Map<string, number>();
  while (!options.stopping.aborted) {
    for (const configuration of treated) {
      const turn = turns.get(configuration.ref) ?? 0;
      const made = await change(configuration, askFor(configuration, turn), options);
      options.onChange(made);
      if (made.answeredAt !== undefined) turns.set(configuration.ref, turn + 1);
      await delay(PAUSE_MS / treated.length);
    }
  }
}
