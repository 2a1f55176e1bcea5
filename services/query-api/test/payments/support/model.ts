import type { PaymentEvent } from '@webhooks/contracts';

/**
 * What the queries must answer, said in the plainest way: of the set of all events, without documents, merging or order.
 * It shares no code with the service.
 */
type Reversal = Extract<PaymentEvent, { eventType: 'PIX_REVERSAL' }>;
type Paid = Extract<PaymentEvent, { eventType: 'PIX_DYNAMIC_PAID' }>;

const isReversal = (event: PaymentEvent): event is Reversal => event.eventType === 'PIX_REVERSAL';
const isPaid = (event: PaymentEvent): event is Paid => event.eventType === 'PIX_DYNAMIC_PAID';

/** Nanoseconds since 1970. */
function nanoseconds(time: string): bigint {
  const [seconds = '', fraction = ''] = time.slice(0, -1).split('.');
  return BigInt(Date.parse(`${seconds}Z`)) * 1_000_000n + BigInt(`${fraction}000000000`.slice(0, 9));
}

export const cents = (amount: string): bigint => BigInt(amount.replace('.', ''));
const money = (amount: bigint): string => {
  const text = amount.toString().padStart(3, '0');
  return `${text.slice(0, -2)}.${text.slice(-2)}`;
};

/** Whether `one` holds against `other`. */
function beats(one: PaymentEvent, other: PaymentEvent): boolean {
  const failed = (event: PaymentEvent): boolean =>
    'status' in event.data && event.data.status === 'NAO_REALIZADO';
  if (failed(one) !== failed(other)) return failed(other);
  const [oneAt, otherAt] = [nanoseconds(one.occurredAt), nanoseconds(other.occurredAt)];
  if (oneAt !== otherAt) return oneAt > otherAt;
  return one.id > other.id;
}

const holding = <T extends PaymentEvent>(events: readonly T[]): T | undefined =>
  events.find((event) => events.every((other) => !beats(other, event)));

function reversalViews(reversals: readonly Reversal[]): unknown[] {
  const ids = [...new Set(reversals.map(({ data }) => data.rtrId))];
  return ids
    .map((rtrId) => holding(reversals.filter(({ data }) => data.rtrId === rtrId)))
    .filter((event) => event !== undefined)
    .sort((left, right) => {
      const [leftAt, rightAt] = [nanoseconds(left.occurredAt), nanoseconds(right.occurredAt)];
      if (leftAt !== rightAt) return leftAt < rightAt ? -1 : 1;
      return left.data.rtrId < right.data.rtrId ? -1 : 1;
    })
    .map(({ data: { endToEndId: _e, txId: _t, ...view } }) => ({
      ...view,
      amount: money(cents(view.amount)),
    }));
}

export function modelTransaction(
  events: readonly PaymentEvent[],
  tenantId: string,
  endToEndId: string,
): unknown {
  const mine = events.filter((event) => event.tenantId === tenantId && event.data.endToEndId === endToEndId);
  if (mine.length === 0) return undefined;
  const view: Record<string, unknown> = {
    ...{ endToEndId, reversals: reversalViews(mine.filter(isReversal)) },
    events: inOrder(mine),
  };
  const payment = holding(mine.filter((event) => !isReversal(event)));
  if (!payment) return view;
  view['eventType'] = payment.eventType;
  view['amount'] = money(cents(payment.data.amount));
  view['occurredAt'] = payment.occurredAt;
  if ('txId' in payment.data) view['txId'] = payment.data.txId;
  if ('status' in payment.data) view['status'] = payment.data.status;
  return view;
}

/** The payments before the reversals, of each what holds last. */
const inOrder = (events: readonly PaymentEvent[]): string[] =>
  events
    .toSorted((one, other) => {
      if (isReversal(one) !== isReversal(other)) return isReversal(one) ? 1 : -1;
      return beats(one, other) ? 1 : -1;
    })
    .map(({ id }) => id);

function pixOf(mine: readonly PaymentEvent[], endToEndId: string, txId: string) {
  const ofPix = mine.filter((event) => event.data.endToEndId === endToEndId);
  const payments = ofPix.filter(isPaid).filter(({ data }) => data.txId === txId);
  const received = holding(ofPix.filter((event) => isPaid(event) || event.eventType === 'PIX_STATIC'));
  const payment = payments.find((one) => one === received);
  const reversals = ofPix
    .filter(isReversal)
    .filter(({ data }) => data.txId === txId || (data.txId === undefined && payment !== undefined));
  const paidAt = payment && (payment.data.paidAt ?? payment.occurredAt);
  const view = {
    endToEndId,
    txId,
    reversals: reversalViews(reversals),
    events: inOrder([...payments, ...reversals]),
  };
  return {
    payment,
    order: paidAt === undefined ? undefined : nanoseconds(paidAt),
    view: payment ? { ...view, amount: money(cents(payment.data.amount)), paidAt } : view,
  };
}

type Pix = ReturnType<typeof pixOf>;

function pixOrder(left: Pix, right: Pix): number {
  if (left.order !== right.order) {
    if (left.order === undefined) return 1;
    if (right.order === undefined) return -1;
    return left.order < right.order ? -1 : 1;
  }
  return left.view.endToEndId < right.view.endToEndId ? -1 : 1;
}

export function modelCharge(events: readonly PaymentEvent[], tenantId: string, txId: string): unknown {
  const mine = events.filter((event) => event.tenantId === tenantId);
  const naming = mine.filter(
    (event) => (isPaid(event) || isReversal(event)) && 'txId' in event.data && event.data.txId === txId,
  );
  if (naming.length === 0) return undefined;
  const endToEndIds = [...new Set(naming.map(({ data }) => data.endToEndId))];
  const pix = endToEndIds.map((endToEndId) => pixOf(mine, endToEndId, txId)).sort(pixOrder);
  const payments = pix.map(({ payment }) => payment).filter((payment) => payment !== undefined);
  const status = payments.length > 0 ? 'CONCLUIDA' : 'ATIVA';
  const view = { txId, status, pix: pix.map((one) => one.view) };
  if (payments.length === 0) return view;
  const charged = holding(payments.filter(({ data }) => data.chargeAmount !== undefined));
  const sum = payments.reduce((total, { data }) => total + cents(data.amount), 0n);
  return { ...view, amount: money(charged ? cents(charged.data.chargeAmount ?? '') : sum) };
}
