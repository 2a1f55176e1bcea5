import { causeOf } from '@webhooks/contracts/failure-causes';
import type { DeliveryAttempt } from '../types/query-types.js';
import { EN } from './texts-en.js';
import { PT } from './texts-pt.js';

/** One text in Portuguese and in English. */
export interface Texts {
  readonly pt: string;
  readonly en: string;
}

/** Every way in which a notification is delivered, late, repeated, refused or missing. A newer version may have more. */
export type VerdictKind = keyof typeof EN.verdicts;

/** By the names in braces. Times and amounts are formatted; words, such as the reason of a dead delivery, are translated. */
export type Values = Readonly<Record<string, string | number | undefined>>;

const LANGUAGES = { pt: { locale: 'pt-BR', ...PT }, en: { locale: 'en', ...EN } } as const;
/** The zone of the payments' country. Times say their zone. */
const TIME_ZONE = 'America/Sao_Paulo';
const DATED = { dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' } as const;
const REAIS = { style: 'currency', currency: 'BRL' } as const;

/** Returns the sentence of a verdict. `failed`: the attempt that tells the cause. An unknown value is empty. */
export function verdictTexts(
  kind: VerdictKind,
  values: Values,
  failed: Partial<DeliveryAttempt> = {},
  timeZone = TIME_ZONE,
): Texts {
  const failure = { failedAt: failed.at, error: failed.status ?? failed.code ?? failed.error };
  const textIn = (language: keyof Texts): string => {
    const { locale, verdicts, words } = LANGUAGES[language];
    const known = new Map<string, string>(Object.entries(words));
    const all: Values = { ...failure, cause: causeOf(failed, language) ?? failed.cause, ...values };
    const show = (value: string): string => {
      if (/^\d{4}-\d\d-\d\dT/.test(value))
        return new Intl.DateTimeFormat(locale, { ...DATED, timeZone }).format(new Date(value));
      if (/^\d+\.\d\d$/.test(value)) return new Intl.NumberFormat(locale, REAIS).format(Number(value));
      const word = known.get(value);
      return word === undefined ? value : fill(word);
    };
    const fill = (text: string): string =>
      text.replaceAll(/\{(\w+)\}/g, (_, name: string) => show(String(all[name] ?? '')));
    return fill(verdicts[kind]).replaceAll(/ +/g, ' ').trim();
  };
  return { pt: textIn('pt'), en: textIn('en') };
}
