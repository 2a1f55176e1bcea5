import { setTimeout as delay } from 'node:timers/promises';
import type { Client, Webhook } from '@webhooks/client';
import type { Configuration } from '../world/configurations.js';
import type { Asked, Change } from './changes.js';
import { FIRST_TURN, askFor, isDue, turnAfter } from './turns.js';
import type { Turn } from './turns.js';

export interface ChangerOptions {
  readonly configurations: readonly Configuration[];
  readonly clientOf: (tenantId: string) => Client;
  readonly originOf: (configuration: Configuration) => string;
  /** Whether a service answers like this that is down, cut off, or of another time. */
  readonly isAway: (error: unknown) => boolean;
  /** Told of every change, once it was answered or failed. */
  readonly onChange: (change: Change) => void;
  /** When the run ends, milliseconds of `performance.now()`. */
  readonly until: number;
  readonly stopping: AbortSignal;
}

const PAUSE_MS = 4_000;

type Answer = Pick<Change, 'published' | 'secret'>;

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

async function rotate(client: Client, ref: string): Promise<Answer> {
  const { secret, published } = await client.rotateSecret(ref);
  return { secret, published: published !== false };
}

async function ask(configuration: Configuration, asked: Asked, options: ChangerOptions): Promise<Answer> {
  const client = options.clientOf(configuration.tenantId);
  if (asked.what !== 'rotate') return put(client, configuration, asked, options.originOf(configuration));
  return rotate(client, configuration.ref);
}

async function change(configuration: Configuration, asked: Asked, options: ChangerOptions): Promise<Change> {
  const about = { ref: configuration.ref, asked, askedAt: Date.now() };
  try {
    const answer = await ask(configuration, asked, options);
    return { ...about, ...answer, answeredAt: Date.now() };
  } catch (error) {
    // Then the change was made, or not; any other answer is a bug.
    if (options.isAway(error)) return about;
    throw error;
  }
}

/**
 * Changes what may be changed, one after the other and again and again: disabled and enabled, moved and moved back, a new
 * secret.
 */
export async function makeChanges(options: ChangerOptions): Promise<void> {
  const treated = options.configurations.filter(({ treatment }) => treatment !== 'left-alone');
  const turns = new Map<string, Turn>();
  while (!options.stopping.aborted) {
    for (const configuration of treated) {
      const turn = turns.get(configuration.ref) ?? FIRST_TURN;
      const asked = askFor(configuration, turn);
      if (isDue(asked, turn, performance.now(), options.until)) {
        const made = await change(configuration, asked, options);
        options.onChange(made);
        turns.set(configuration.ref, turnAfter(turn, made, performance.now()));
      }
      await delay(PAUSE_MS / treated.length);
    }
  }
}
