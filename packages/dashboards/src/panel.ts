import { LegendDisplayMode, VizLegendOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import * as grafana from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

/** Dashboards with this tag link to each other. */
const TAG = 'webhooks';
/** Of the 24 columns of a dashboard: three panels side by side. */
const PANEL_COLUMNS = 8;
/** How the queries `objective` and `alert` are drawn: the others should stay on one side of them. */
const BOUND = [
  { id: 'color', value: { mode: 'fixed', fixedColor: 'red' } },
  { id: 'custom.lineStyle', value: { fill: 'dash', dash: [8, 8] } },
];

/** Adds the label `service`, which only `build_info` has. */
export const ofService = (vector: string): string =>
  `${vector} * on (job, instance) group_left (service) build_info`;

const sum = (vector: string, by: readonly string[]): string =>
  by.length === 0 ? `sum(${vector})` : `sum by (${by.join(', ')}) (${vector})`;

/** The growth of a counter per second, summed by labels. One of them may be `service`. */
export function rate(counter: string, ...by: string[]): string {
  const perSecond = `rate(${counter}[$__rate_interval])`;
  return sum(by.includes('service') ? ofService(perSecond) : perSecond, by);
}

/** How often something rare happened within `$__rate_interval`, summed by labels. A counter that begins in it began at 0. */
export const increase = (counter: string, ...by: string[]): string =>
  sum(`(${counter} unless ${counter} offset $__rate_interval) or increase(${counter}[$__rate_interval])`, by);

/** A quantile of a histogram, by labels. The comparison drops NaN, the quantile of no observation. */
export const quantile = (rank: number, histogram: string, ...by: string[]): string =>
  `histogram_quantile(${rank}, ${rate(`${histogram}_bucket`, 'le', ...by)}) >= 0`;

/** The share that one counter has of another. It is 0 while the other does not grow. */
export const share = (part: string, whole: string): string =>
  `${rate(part)} / (${rate(whole)} > 0) or vector(0)`;

/**
 * Makes a panel. `question`: its title, which the queries answer. `unit`: an id of Grafana's units. `about`: what is
 * normal, and what to do otherwise. The other members are the queries, by their legends.
 */
export function panel(
  question: string,
  unit: string,
  { about, ...queries }: { readonly about: string; readonly [legend: string]: string },
): PanelBuilder {
  const legend = new VizLegendOptionsBuilder().displayMode(LegendDisplayMode.Table);
  const targets = Object.entries(queries).map(([name, expr], index) =>
    new DataqueryBuilder().refId(`Q${index}`).legendFormat(name).expr(expr).range(),
  );
  return new PanelBuilder()
    .title(question)
    .description(about)
    .unit(unit)
    .noValue('nothing in this time')
    .span(PANEL_COLUMNS)
    .datasource({ type: 'prometheus', uid: '$datasource' })
    .legend(legend.showLegend(true).calcs(['last', 'max']))
    .overrideByRegexp('/^(objective|alert)/', BOUND)
    .targets(targets);
}

/** Makes a dashboard, as a file for Grafana. `name`: of the file, and in Grafana's address behind `webhooks-`. */
export function dashboard(name: string, title: string, panels: readonly PanelBuilder[]) {
  const link = new grafana.DashboardLinkBuilder(TAG).type(grafana.DashboardLinkType.Dashboards);
  const built = new grafana.DashboardBuilder(title)
    .uid(`${TAG}-${name}`)
    .tags([TAG])
    .link(link.tags([TAG]).keepTime(true))
    .time({ from: 'now-1h', to: 'now' })
    .refresh('30s')
    .tooltip(grafana.DashboardCursorSync.Crosshair)
    .withVariable(new grafana.DatasourceVariableBuilder('datasource').type('prometheus'));
  for (const one of panels) built.withPanel(one);
  return { file: `${name}.json`, text: `${JSON.stringify(built.build(), null, 2)}\n` };
}
