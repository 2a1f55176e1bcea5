import type { Overview } from '@webhooks/client';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { ZONE } from '../days.js';
import { useSpeech, type Speech } from '../language.js';
import { Table, type Column } from './table.js';

const HEIGHT_PX = 180;

type Point = Overview['series'][number];

/** Draws the attempts of a day into an element, and returns the chart. */
function draw(box: HTMLElement, series: readonly Point[], { count, locale }: Speech): uPlot {
  /** A canvas knows no variables of CSS. */
  const colour = (name: string): string => {
    box.style.color = `var(${name})`;
    return getComputedStyle(box).color;
  };
  const time = { timeZone: ZONE, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const hour = new Intl.DateTimeFormat(locale, time);
  const axis = { stroke: colour('--text'), grid: { stroke: colour('--line') } };
  const options: uPlot.Options = {
    ...{ width: box.clientWidth, height: HEIGHT_PX, legend: { show: false }, cursor: { show: false } },
    axes: [
      { ...axis, values: (_plot, ticks) => ticks.map((at) => hour.format(at * 1_000)) },
      { ...axis, values: (_plot, ticks) => ticks.map((value) => count(value)) },
    ],
    series: [
      {},
      { stroke: colour('--good'), fill: colour('--good-fill') },
      { stroke: colour('--bad'), width: 2 },
    ],
  };
  const data: uPlot.AlignedData = [
    series.map(({ at }) => Date.parse(at) / 1_000),
    series.map(({ delivered }) => delivered),
    series.map(({ failed }) => failed),
  ];
  return new uPlot(options, data, box);
}

const dark = matchMedia('(prefers-color-scheme: dark)');
const onTheme = (changed: () => void) => {
  dark.addEventListener('change', changed);
  return () => dark.removeEventListener('change', changed);
};

const columnsIn = ({ texts, time, count }: Speech): readonly Column<Point>[] => [
  { head: texts.time, cell: ({ at }) => time(at) },
  { head: texts.delivered, cell: ({ delivered }) => count(delivered), isNumber: true },
  { head: texts.failed, cell: ({ failed }) => count(failed), isNumber: true },
];

/** Draws the last day, and lists it in a table for whoever sees no canvas. */
export default function DayChart({ series }: Pick<Overview, 'series'>) {
  const speech = useSpeech();
  const { texts } = speech;
  const place = useRef<HTMLDivElement>(null);
  const isDark = useSyncExternalStore(onTheme, () => dark.matches);
  useEffect(() => {
    const box = place.current;
    if (box === null) return undefined;
    const plot = draw(box, series, speech);
    const watch = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: HEIGHT_PX }));
    watch.observe(box);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [series, speech, isDark]);
  const active = series.filter(({ delivered, failed, dead }) => delivered + failed + dead > 0);
  return (
    <figure>
      <figcaption>
        {texts.day}: <span className="good">{texts.delivered}</span>,{' '}
        <span className="bad">{texts.failed}</span>
      </figcaption>
      <div ref={place} className="chart" aria-hidden="true" />
      <details>
        <summary>{active.length === 0 ? texts.quietDay : texts.asTable}</summary>
        <Table caption={texts.day} columns={columnsIn(speech)} rows={active} keyOf={({ at }) => at} />
      </details>
    </figure>
  );
}
