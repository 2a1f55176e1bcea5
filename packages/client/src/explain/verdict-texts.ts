import { causeOf } from '@webhooks/contracts/failure-causes';
import type { DeliveryAttempt } from '../types/query-types.js';
import { EN } from './texts-en.js';
import { PT } from './texts-pt.js';

/** One text in Portuguese and in English. */
export interface Texts {
  readonly pt: string;
  readonly en: string;
}
type Language = keyof Texts;

/** Every way in which a notification is delivered, late, repeated, refused or missing. A newer version may have more. */
export type VerdictKind = keyof typeof EN.verdicts;

const LOCALES = { pt: 'pt-BR', en: 'en' } as const;
/** All times are in the zone of the payments' country, and say so. */
const ZONED = { dateStyle: 'medium', timeStyle: 'long', timeZone: 'America/Sao_Paulo' } as const;
const REAIS = { style: 'currency', currency: 'BRL' } as const;
const WORDS: Readonly<Record<Language, Readonly<Record<string, string>>>> = { pt: PT.words, en: EN.words };

const both = (textIn: (language: Language) => string): Texts => ({ pt: textIn('pt'), en: textIn('en') });

/** Formats a time; an unknown one is empty. */
export const timeTexts = (time: string | undefined): Texts =>
  both((language) =>
    time === undefined ? '' : new Intl.DateTimeFormat(LOCALES[language], ZONED).format(new Date(time)),
  );

/** Returns the text of a word, such as the reason of a dead delivery. An unknown word is its own text. */
export const wordTexts = (word: string): Texts => both((language) => WORDS[language][word] ?? word);

/** Returns what a failed attempt means and what helps; empty when that is not known. */
export const causeTexts = (failed: Partial<DeliveryAttempt> = {}): Texts =>
  both((language) => causeOf(failed, language) ?? failed.cause ?? '');

type Values = Readonly<Record<string, string | number | Texts>>;

const fill = (template: Texts, values: Values): Texts =>
  both((language) =>
    template[language]
      .replaceAll(/\{(\w+)\}/g, (_, name: string) => {
        const value = values[name] ?? '';
        return String(typeof value === 'object' ? value[language] : value);
      })
      .replaceAll(/ +/g, ' ')
      .trim(),
  );

/** Returns the name of an event, with its amount when that is known. */
export function eventTexts(eventType: string, amount: string | undefined): Texts {
  if (amount === undefined) return { pt: eventType, en: eventType };
  const reais = both((language) => new Intl.NumberFormat(LOCALES[language], REAIS).format(Number(amount)));
  return fill(wordTexts('event'), { eventType, amount: reais });
}

/** Returns the sentence of a verdict. */
export const verdictTexts = (kind: VerdictKind, values: Values): Texts =>
  fill({ pt: PT.verdicts[kind], en: EN.verdicts[kind] }, values);
