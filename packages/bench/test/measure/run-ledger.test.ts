import { RunLedger, voidReason } from '../../src/measure/run-ledger.js';
import type { Acceptance } from '../../src/measure/run-ledger.js';

const accepted = (id: string, tenantId = 'acme'): Acceptance => ({
  id,
  tenantId,
  dueAt: 1_000,
  acknowledgedAt: 1_500,
});
const arrival = (id: string, path: string, status = 200, arrivedAt = 2_000) => ({
  id,
  path,
  status,
  arrivedAt,
});
const ENDPOINTS = [
  { path: '/a', tenantId: 'acme' },
  { path: '/b', tenantId: 'acme' },
  { path: '/other', tenantId: 'globex' },
];

describe('RunLedger', () => {
  it('owes each event to each endpoint of its tenant and balances when all of them got it', () => {
    const ledger = new RunLedger([accepted('1'), accepted('2', 'globex')], ENDPOINTS);
    ledger.note([arrival('1', '/a'), arrival('1', '/b'), arrival('2', '/other')]);
    expect(ledger.totals()).toEqual({ accepted: 3, delivered: 3, duplicates: 0, refused: 0, strangers: 0 });
    expect(voidReason(ledger.totals())).toBeUndefined();
  });

  it('is void when one endpoint did not get what it was owed, however often another one did', () => {
    const ledger = new RunLedger([accepted('1')], ENDPOINTS);
    ledger.note([arrival('1', '/a'), arrival('1', '/a')]);
    expect(ledger.totals()).toMatchObject({ accepted: 2, delivered: 1, duplicates: 1 });
    expect(voidReason(ledger.totals())).toBe('1 of 2 deliveries are missing');
  });

  it('does not take an answer that was no 2xx for a delivery', () => {
    const ledger = new RunLedger([accepted('1', 'globex')], ENDPOINTS);
    ledger.note([arrival('1', '/other', 500)]);
    ledger.note([arrival('1', '/other', 0)]);
    expect(ledger.totals()).toMatchObject({ accepted: 1, delivered: 0, refused: 2 });
    ledger.note([arrival('1', '/other', 204)]);
    expect(voidReason(ledger.totals())).toBeUndefined();
  });

  it('is void when an endpoint got what nobody accepted, or what belongs to another tenant', () => {
    const unknown = new RunLedger([accepted('1', 'globex')], ENDPOINTS);
    unknown.note([arrival('1', '/other')]);
    unknown.note([arrival('9', '/other')]);
    expect(voidReason(unknown.totals())).toBe('1 arrivals were owed to nobody');
    const mixed = new RunLedger([accepted('1', 'globex')], ENDPOINTS);
    mixed.note([arrival('1', '/other')]);
    mixed.note([arrival('1', '/a')]);
    expect(voidReason(mixed.totals())).toBe('1 arrivals were owed to nobody');
  });

  it('leaves arrivals at the endpoints of other runs alone', () => {
    const ledger = new RunLedger([accepted('1', 'globex')], ENDPOINTS);
    ledger.note([arrival('1', '/other')]);
    ledger.note([arrival('x', '/of-another-run')]);
    expect(voidReason(ledger.totals())).toBeUndefined();
  });

  it('counts what waits in Kafka as accounted for, but never twice', () => {
    const totals = { accepted: 10, delivered: 7, duplicates: 0, refused: 0, strangers: 0 };
    expect(voidReason(totals, 3)).toBeUndefined();
    expect(voidReason(totals, 2)).toBe('1 of 10 deliveries are missing');
    expect(voidReason(totals, 4)).toBe('1 deliveries are both delivered and waiting');
  });

  it('is void when nothing was accepted: a run without events shows nothing', () => {
    expect(voidReason(new RunLedger([], ENDPOINTS).totals())).toBe('nothing was accepted');
  });

  it('counts what some endpoints are still owed', () => {
    const ledger = new RunLedger([accepted('1'), accepted('2'), accepted('3', 'globex')], ENDPOINTS);
    ledger.note([arrival('1', '/a'), arrival('1', '/b', 500), arrival('3', '/other')]);
    expect(ledger.missing(() => true)).toBe(3);
    expect(ledger.missing((path) => path === '/a')).toBe(1);
    expect(ledger.missing((path) => path === '/other')).toBe(0);
  });

  it('takes latencies of the first delivery, from the acknowledgement or from when the event was due', () => {
    const ledger = new RunLedger([accepted('1')], ENDPOINTS);
    ledger.note([arrival('1', '/a', 200, 3_500), arrival('1', '/a', 200, 9_000)]);
    expect(ledger.latencies('acknowledgedAt')).toEqual([2_000]);
    expect(ledger.latencies('dueAt')).toEqual([2_500]);
    expect(ledger.latencies('dueAt', { isPath: (path) => path === '/b' })).toEqual([]);
    expect(ledger.latencies('dueAt', { due: [1_001, Infinity] })).toEqual([]);
    expect([...ledger.arrivals()]).toEqual([3_500]);
  });

  it('takes a delivery that overtook its acknowledgement as one that took no time', () => {
    const ledger = new RunLedger([accepted('1')], ENDPOINTS);
    ledger.note([arrival('1', '/a', 200, 1_400)]);
    expect(ledger.latencies('acknowledgedAt')).toEqual([0]);
  });
});
