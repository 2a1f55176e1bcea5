import type { TransactionFilter } from '@webhooks/client';
import { DAY_MS, dayIn, OFFSET } from './days.js';

/** How far from a time a payment may be, milliseconds: people read it off a receipt, or remember it. */
const AROUND_MS = 15 * 60_000;
/** How far back an amount alone is searched for, milliseconds: as far as the service lists at once. */
const MONTH_MS = 31 * DAY_MS;

/** `1.234,56`, `1,234.56`, `42,00` or `42.00`; with `R$` before it `42`, too. Without, `42` may be an id. */
const AMOUNT =
  /^(?:R\$)?(\d{1,3}(?:\.\d{3})+,\d\d|\d{1,3}(?:,\d{3})+\.\d\d|\d{1,13}[.,]\d\d)$|^R\$(\d{1,13})$/i;
/** `14:32` or `14h32`. */
const TIME = /^([01]?\d|2[0-3])[:h]([0-5]\d)$/;
/** `27/11`. */
const DAY = /^(0?[1-9]|[12]\d|3[01])\/(0?[1-9]|1[0-2])$/;

/** The newest such day that has begun, as `2026-11-27`; today without one. */
function dayOf(typed: string, now: number): string {
  const today = dayIn(now);
  const [, day = '', month = ''] = DAY.exec(typed) ?? [];
  if (day === '') return today;
  const year = Number(today.slice(0, 4));
  const inYear = (one: number): string => `${one}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return inYear(year) <= today ? inYear(year) : inYear(year - 1);
}

/** A search for payments of an amount. */
export type PaymentSearch = Required<Pick<TransactionFilter, 'amount' | 'from' | 'to'>>;

/** Reads an amount as the service wants it: `1234.56`. */
function amountOf(typed: string): string {
  const [, exact = '', whole] = AMOUNT.exec(typed) ?? [];
  if (whole !== undefined) return `${whole}.00`;
  const digits = exact.replaceAll(/[.,]/g, '');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Sorts the words of a search. Returns undefined without an amount, and when a word is none of these or stands twice. */
function wordsOf(typed: string) {
  const words = typed
    .trim()
    .replace(/R\$\s+/i, 'R$')
    .split(/\s+/);
  const find = (form: RegExp): string => words.find((word) => form.test(word)) ?? '';
  const found = { amount: find(AMOUNT), time: find(TIME), day: find(DAY) };
  const known = Object.values(found).filter((word) => word !== '').length;
  return found.amount === '' || known < words.length ? undefined : found;
}

/** Between which times a payment was: around a time, on a day, or within the last 31 days. Undefined for a day that no month has. */
function spanOf({ time, day }: { readonly time: string; readonly day: string }, now: number) {
  const date = dayOf(day, now);
  const midnight = Date.parse(`${date}T00:00:00${OFFSET}`);
  if (Number.isNaN(midnight) || dayIn(midnight) !== date) return undefined;
  const [, hour, minute] = TIME.exec(time) ?? [];
  if (hour === undefined) return day === '' ? [now - MONTH_MS, now] : [midnight, midnight + DAY_MS];
  const typed = midnight + (Number(hour) * 60 + Number(minute)) * 60_000;
  // A time alone that is still to come was yesterday. Clocks differ.
  const at = day === '' && typed - AROUND_MS > now ? typed - DAY_MS : typed;
  return [at - AROUND_MS, at + AROUND_MS];
}

/**
 * Reads an amount, and with it a time and a day of São Paulo, from what was typed, such as `14:32 27/11 42,00`. Returns undefined for
 * anything else.
 */
export function readPaymentSearch(typed: string, now: number): PaymentSearch | undefined {
  const found = wordsOf(typed);
  const [from, to] = (found && spanOf(found, now)) ?? [];
  if (found === undefined || from === undefined || to === undefined) return undefined;
  return {
    amount: amountOf(found.amount),
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  };
}
