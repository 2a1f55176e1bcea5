import type { ReceivedSpan } from './otlp-receiver.js';

const [WIDTH, LEFT, ROW, BAR] = [900, 330, 26, 14];
const COLOURS: Readonly<Record<string, string>> = {
  ingest: '#6f42c1',
  'delivery-worker': '#0969da',
  'query-api': '#1a7f37',
};

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

function labelOf({ name, attributes }: ReceivedSpan): string {
  const attempt = attributes['webhook.attempt'];
  const result = attributes['http.response.status_code'] ?? attributes['error.type'];
  if (name === 'POST') return `POST attempt ${attempt}: ${result}`;
  const settlement = attributes['webhook.settlement'];
  return settlement === undefined ? name : `${name}: ${settlement}`;
}

/** Draws spans, a row each, as SVG. Each trace has its own piece of the axis of time: the wait between two is cut out. */
export function drawTrace(spans: readonly ReceivedSpan[]): string {
  const sorted = [...spans].sort((a, b) => a.from - b.from);
  const traces = [...Map.groupBy(sorted, ({ traceId }) => traceId).values()];
  const piece = (WIDTH - LEFT - 20) / traces.length;
  const rows = traces.flatMap((members, index) => {
    const from = Math.min(...members.map((span) => span.from));
    const length = Math.max(...members.map((span) => span.to)) - from;
    const scale = (piece - 60) / length;
    return members.map((span) => ({
      span,
      x: LEFT + index * piece + (span.from - from) * scale,
      width: Math.max(2, (span.to - span.from) * scale),
    }));
  });
  const lines = rows.map(({ span, x, width }, row) => {
    const y = 30 + row * ROW;
    const colour = span.failed ? '#cf222e' : (COLOURS[span.service] ?? '#57606a');
    const link = span.links.length > 0 ? ' (linked)' : '';
    const text = escapeXml(`${span.service}  ${labelOf(span)}${link}`);
    const duration = `${(span.to - span.from).toFixed(1)} ms`;
    return `<text x="10" y="${y + 11}">${text}</text><rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" rx="2" fill="${colour}"/><text x="${(x + width + 4).toFixed(1)}" y="${y + 11}" fill="#57606a">${duration}</text>`;
  });
  const height = 40 + rows.length * ROW;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="ui-monospace, monospace" font-size="12"><rect width="100%" height="100%" fill="#fff"/>\n${lines.join('\n')}\n</svg>\n`;
}
