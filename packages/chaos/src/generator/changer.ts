import { setTimeout as delay } from 'node:timers/promises';
import type { Client, Webhook } from '@webhooks/client';
import { movedPath } from '../world/configurations.js';
import { isServiceAway } from '../world/unavailable.js';
import type { Configuration } from '../world/configurations.js';
import type { Asked, Change } from './changes.js';

export interface ChangerOptions {
  readonly configurations: readonly Configuration[];
  readonly clientOf: (tenantId: string) => Client;
  readonly originOf: (configuration: Configuration) => string;
  /** Told of every change, once it was answered or failed. */
  readonly onChange: (change: Change) => void;
  readonly stopping: AbortSignal;
}

const PAUSE_MS = 4_000;

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
    if (isServiceAway(error)) return about;
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
