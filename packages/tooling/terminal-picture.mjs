// Draws lines of a terminal, with their colours, as an SVG text.
const LINE_PX = 18;
const CHARACTER_PX = 8.05;
const COLOURS = { 2: '#8b949e', 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341' };
const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** One line of a terminal as a text element; colour codes become fills. */
function draw(line, row) {
  let fill;
  const spans = line.split(/\x1b\[(\d+)m/).flatMap((part, index) => {
    if (index % 2 === 1) fill = COLOURS[part];
    else if (part !== '')
      return fill === undefined ? escape(part) : `<tspan fill="${fill}">${escape(part)}</tspan>`;
    return [];
  });
  return `<text x="16" y="${52 + row * LINE_PX}" xml:space="preserve">${spans.join('')}</text>`;
}

export function terminalPicture(lines, label) {
  const plain = lines.map((line) => line.replace(/\x1b\[\d+m/g, ''));
  const width = Math.ceil(32 + CHARACTER_PX * Math.max(...plain.map((line) => line.length)));
  const height = 52 + lines.length * LINE_PX;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13" fill="#e6edf3" role="img" aria-label="${label}">
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<circle cx="20" cy="18" r="5" fill="#ff5f57"/><circle cx="38" cy="18" r="5" fill="#febc2e"/><circle cx="56" cy="18" r="5" fill="#28c840"/>
${lines.map(draw).join('\n')}
</svg>
`;
}
