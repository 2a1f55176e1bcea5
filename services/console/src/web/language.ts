import { createContext, useContext } from 'react';
import { DAY_MS, ZONE } from './days.js';
import { EN } from './texts/en.js';
import { PT } from './texts/pt.js';

type Language = 'pt' | 'en';
export type Texts = Readonly<Record<keyof typeof EN, string>>;

const TEXTS: Readonly<Record<Language, Texts>> = { pt: PT, en: EN };
const LOCALES = { pt: 'pt-BR', en: 'en' } as const;
const COOKIE = 'language';

/** The language that was chosen in this browser, else the browser's. The cookie holds nothing else. */
export function preferredLanguage(): Language {
  const [, chosen] = new RegExp(`(?:^|; )${COOKIE}=(pt|en)`).exec(document.cookie) ?? [];
  return (chosen ?? navigator.language).startsWith('pt') ? 'pt' : 'en';
}

export function keepLanguage(language: Language): void {
  document.cookie = `${COOKIE}=${language}; path=/; max-age=31536000; samesite=strict`;
}

/** A value of a text, `{amount}`, or one of two words by a number: `{events|payment|payments}`. */
const VALUE = /\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g;

/** How numbers, money and times are written in a language. */
function formatsOf(locale: (typeof LOCALES)[Language]) {
  const dated = { timeZone: ZONE, hourCycle: 'h23', hour: '2-digit', minute: '2-digit' } as const;
  const day = { ...dated, second: '2-digit', day: '2-digit', month: 'short' } as const;
  return {
    money: new Intl.NumberFormat(locale, { style: 'currency', currency: 'BRL' }),
    count: new Intl.NumberFormat(locale),
    time: new Intl.DateTimeFormat(locale, day),
    timeOfYear: new Intl.DateTimeFormat(locale, { ...day, year: 'numeric' }),
    utc: new Intl.DateTimeFormat(locale, { ...dated, timeZone: 'UTC' }),
    weekday: new Intl.DateTimeFormat(locale, { ...dated, weekday: 'long' }),
    date: new Intl.DateTimeFormat(locale, { timeZone: ZONE, dateStyle: 'medium' }),
    age: new Intl.RelativeTimeFormat(locale),
    now: new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(0, 'second'),
  };
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Texts and formats of a language. */
export function speak(language: Language) {
  const locale = LOCALES[language];
  const texts = TEXTS[language];
  const formats = formatsOf(locale);
  const count = (of: number): string => formats.count.format(of);
  const ofThisYear = (at: Date): boolean => at.getFullYear() === new Date().getFullYear();
  /** São Paulo's time, with the hour of UTC beside it: logs have that. */
  const time = (at: string): string => {
    const date = new Date(at);
    const full = ofThisYear(date) ? formats.time : formats.timeOfYear;
    return `${full.format(date)} (${formats.utc.format(date)} UTC)`;
  };
  return {
    ...{ language, locale, texts, count, time },
    /** Fills the values of a text. `isCut`: there may be more than it counts. */
    say: (key: keyof Texts, values: Readonly<Record<string, string | number>>, isCut = false): string =>
      (isCut ? texts.atLeast : '') +
      texts[key].replaceAll(VALUE, (_, name: string, one?: string, many?: string) => {
        const value = values[name] ?? '';
        if (one !== undefined && many !== undefined) return value === 1 ? one : many;
        return typeof value === 'number' ? count(value) : value;
      }),
    money: (reais: string): string => formats.money.format(Number(reais)),
    /** A day such as `2026-11-21`. */
    date: (day: string): string => formats.date.format(Date.parse(`${day}T15:00:00Z`)),
    /** Within a week the day's name is enough. */
    since: (at: string): string =>
      Date.now() - Date.parse(at) < 6 * DAY_MS ? formats.weekday.format(new Date(at)) : time(at),
    /** Such as `12 seconds ago`, `now` or `in 1 day`. */
    relative: (at: string): string => {
      const seconds = Math.round((Date.parse(at) - Date.now()) / 1_000);
      if (seconds === 0) return formats.now;
      const [unit, divisor] = UNITS.find(([, s]) => Math.abs(seconds) >= s) ?? UNITS[3];
      return formats.age.format(Math.trunc(seconds / divisor), unit);
    },
  };
}

export type Speech = ReturnType<typeof speak>;

export const SpeechContext = createContext<Speech>(speak('pt'));
export const useSpeech = (): Speech => useContext(SpeechContext);
