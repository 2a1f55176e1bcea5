import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import mongoose from 'mongoose';

const { EJSON } = mongoose.mongo.BSON;

/** Bytes as text when they are UTF-8, so that a change shows in a review; otherwise in base64. */
type Bytes = string | { readonly base64: string } | null;

export function encodeBytes(bytes: Buffer | null): Bytes {
  if (bytes === null) return null;
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : { base64: bytes.toString('base64') };
}

function decodeBytes(bytes: Bytes): Buffer | null {
  if (bytes === null) return null;
  return typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes.base64, 'base64');
}

/** A record that a release wrote, at its partition and in its order. */
export interface StoredRecord {
  readonly topic: string;
  readonly partition: number;
  readonly key: Bytes;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: Bytes;
}

/** A document that a release wrote. */
interface StoredDocument {
  readonly database: string;
  readonly collection: string;
  readonly document: mongoose.mongo.Document;
}

/** What the makers of the fixtures know beside them. */
export interface About {
  /** When they were made, Unix milliseconds. */
  readonly madeAt: number;
  /** `SECRETS_KEYS` with which the secrets in them are sealed. */
  readonly keyring: string;
  /** The secret of the webhook whose secret was rotated. */
  readonly secret: string;
}

const FIXTURES = join(import.meta.dirname, 'fixtures');

/** The tag whose fixtures are read: the last release. */
export const RELEASE = 'delivery-worker-1.0.0';

/** Unix milliseconds of 2017 to 2033, and times of ISO 8601. */
const TIME = /\b(?:1[5-9]\d{11}|20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z)\b/g;

/** Moves all times in a text, so that nothing is too old: a task is delivered for 8 days, and a document is stored for 30. */
const moveTimes = (text: string, ms: number): string =>
  text.replaceAll(TIME, (time) =>
    /^\d+$/.test(time) ? String(Number(time) + ms) : new Date(Date.parse(time) + ms).toISOString(),
  );

/** Reads the fixtures of a release, as if they had been made at `now`, Unix milliseconds. */
export function readFixtures(release: string, now = Date.now()) {
  const folder = join(FIXTURES, release);
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const about = JSON.parse(read('about.json')) as About;
  const lines = (name: string): readonly string[] =>
    moveTimes(read(name), now - about.madeAt)
      .split('\n')
      .filter(Boolean);
  return {
    about,
    records: lines('records.ndjson').map((line) => {
      const { key, value, ...record } = JSON.parse(line) as StoredRecord;
      return { ...record, key: decodeBytes(key), value: decodeBytes(value) };
    }),
    documents: lines('documents.ndjson').map((line) => EJSON.parse(line) as StoredDocument),
  };
}
export type FixtureRecord = ReturnType<typeof readFixtures>['records'][number];
