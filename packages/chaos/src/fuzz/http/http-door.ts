import { setTimeout as delay } from 'node:timers/promises';
import type { OpenApiDocument, Random } from '@webhooks/testkit';
import type { Batch, Door } from '../door.js';
import { showBytes } from '../notes.js';
import type { Notes } from '../notes.js';
import { exchange } from './exchange.js';
import { faultsOfAnswer } from './judge-answer.js';
import { mutateRequest } from './mutate-request.js';
import type { HttpAnswer } from './parse-answers.js';
import { renderRequest } from './request.js';
import type { FuzzRequest, Template } from './request.js';

/** One exchange: what was asked, and every answer on its connection. */
export interface Asked {
  readonly index: number;
  readonly request: FuzzRequest;
  readonly answers: readonly HttpAnswer[];
}

/** What is special of a service behind an HTTP door. */
export interface HttpService {
  readonly name: string;
  /** Its public address. */
  readonly origin: string;
  readonly document: OpenApiDocument;
  /** Requests under way at once; 1 for a service in which a later request undoes what an earlier one did. */
  readonly lanes: number;
  readonly batchSize: number;
  /** A valid request; the same one for the same chance. */
  template(random: Random): Template;
  /** A valid request that is answered with 2xx at any time. */
  probe(): Template;
  /** What this exchange promised. */
  note?(asked: Asked): void;
  /** Holds what was promised in a batch against what is there. */
  settle?(notes: Notes): Promise<void>;
}

const PROBE_TRIES = 3;

async function ask(service: HttpService, index: number, random: Random, notes: Notes): Promise<void> {
  const request = mutateRequest(service.template(random), random);
  const { method, isWire, bytes } = request;
  const { answers, isHung } = await exchange(bytes, { port: portOf(service), method, isWire });
  const first = answers[0];
  notes.took(first ? String(first.status) : 'closed');
  if (isHung) notes.found(index, 'neither answered nor closed', bytes);
  else if (!first && !isWire) notes.found(index, 'closed without an answer', bytes);
  for (const answer of answers)
    for (const fault of faultsOfAnswer(answer, request, service.document))
      notes.found(index, `${fault}; the answer: ${showBytes(answer.body)}`, bytes);
  service.note?.({ index, request, answers });
}

const portOf = ({ origin }: HttpService): number => Number(new URL(origin).port);

/** A service that only needs a moment says 503; one that is damaged goes on. */
async function probe(service: HttpService, index: number, notes: Notes): Promise<void> {
  const template = service.probe();
  const bytes = renderRequest(template);
  for (let left = PROBE_TRIES; left > 0; left -= 1) {
    const { method } = template;
    const { answers } = await exchange(bytes, { port: portOf(service), method, isWire: false });
    const status = answers[0]?.status ?? 0;
    if (status >= 200 && status < 300) return;
    if (left === 1) notes.found(index, `a valid request after the batch was answered ${status}`, bytes);
    else await delay(500);
  }
}

/** The door of a service that speaks HTTP. */
export const createHttpDoor = (service: HttpService): Door => ({
  name: service.name,
  batchSize: service.batchSize,
  take: async ({ from, to, randomOf }: Batch, notes) => {
    let next = from;
    const lane = async (): Promise<void> => {
      for (let index = next++; index < to && !notes.isFull; index = next++)
        await ask(service, index, randomOf(index), notes);
    };
    await Promise.all(Array.from({ length: service.lanes }, lane));
    await probe(service, to - 1, notes);
    await service.settle?.(notes);
  },
  close: () => Promise.resolve(),
});
