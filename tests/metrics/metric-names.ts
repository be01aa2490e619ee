import { parser } from '@prometheus-io/lezer-promql'

/** A metric that an expression or a page names. */
export interface UsedMetric {
  name: string
  /** Labels of its matchers, and the labels that the aggregations around it keep or drop. */
  labels: Set<string>
  /** Values that matchers compare a label with, those of alternatives too. */
  values: { label: string; value: string }[]
}

/** Labels that the collector adds, that every series of a Hub with workers has, and that belong to histograms. */
const commonLabels = new Set(['job', 'instance', 'worker', 'le'])

/**
 * Returns the metrics of a PromQL expression, as the grammar of Prometheus reads it. Variables of Grafana are replaced
 * first.
 *
 * @throws Error for an expression that is not valid
 */
export function metricsOf(expression: string): UsedMetric[] {
  const text = expression.replaceAll('$__rate_interval', '5m').replaceAll('$__range', '1h')
  const tree = parser.parse(text)
  const used: UsedMetric[] = []
  /** Labels of the aggregations around the current node. */
  const around: string[][] = []
  tree.iterate({
    enter(node) {
      const words = () => text.slice(node.from, node.to)
      if (node.type.isError) throw new Error(`not PromQL at ${node.from}: ${text}`)
      if (node.name === 'AggregateExpr') {
        const labels =
          node.node.getChild('AggregateModifier')?.getChild('GroupingLabels')?.getChildren('LabelName') ?? []
        around.push(labels.map(({ from, to }) => text.slice(from, to)))
      } else if (node.name === 'VectorSelector') {
        used.push({ name: '', labels: new Set(around.flat()), values: [] })
      } else if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector') {
        used.at(-1)!.name = words()
      } else if (node.name === 'UnquotedLabelMatcher') {
        const [, label = '', operator, value = ''] = /^(\w+)\s*(=~|!~|!=|=)\s*"(.*)"$/s.exec(words()) ?? []
        used.at(-1)!.labels.add(label)
        // A variable, or a pattern such as `5..`, is no value.
        const values = operator === '=' ? [value] : value.split('|')
        for (const each of values) if (/^\w+$/.test(each)) used.at(-1)!.values.push({ label, value: each })
      }
    },
    leave(node) {
      if (node.name === 'AggregateExpr') around.pop()
    },
  })
  for (const { labels } of used) for (const label of commonLabels) labels.delete(label)
  return used
}

export interface ExposedMetric {
  type: string
  /** Labels of its series, without those of {@link commonLabels}. */
  labels: Set<string>
  /** Whether it has at least one series. */
  hasSeries: boolean
}

/** Returns the metrics of a page in Prometheus' text format. A histogram has one name, without suffix. */
export function exposedMetrics(page: string): Map<string, ExposedMetric> {
  const found = new Map<string, ExposedMetric>()
  for (const [, name = '', type = ''] of page.matchAll(/^# TYPE (\S+) (\S+)$/gm))
    found.set(name, { type, labels: new Set(), hasSeries: false })
  for (const [, series = '', labels = ''] of page.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
    const metric = found.get(series) ?? found.get(baseName(series))
    if (!metric) throw new Error(`${series} has no TYPE`)
    metric.hasSeries = true
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) if (!commonLabels.has(label)) metric.labels.add(label)
  }
  return found
}

/** Returns the name of the histogram of a series. */
export function baseName(series: string): string {
  return series.replace(/_(bucket|sum|count)$/, '')
}
