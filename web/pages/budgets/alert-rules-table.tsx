import { LinkText } from '../../components/link-text.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { columnsOf } from '../../ui/table-columns.ts'
import { formatMetric, groupLabels, metricLabels } from '../webhooks/alert-labels.ts'
import type { Rule } from '../webhooks/webhook-form.ts'

export interface EndpointRule {
  id: string
  rule: Rule
  webhookId: string
  /** Description or address of the endpoint. */
  endpoint: string
}

const column = columnsOf<EndpointRule>()
const columns = column.columns([
  column.accessor((row) => metricLabels[row.rule.metric], { id: 'metric', header: 'What is measured', size: 210 }),
  column.accessor((row) => groupLabels[row.rule.group_by], {
    id: 'group_by',
    header: 'For each',
    size: 120,
    meta: { from: 'sm' },
  }),
  column.accessor((row) => formatMetric(row.rule.metric, row.rule.above), {
    id: 'above',
    header: 'Trigger above',
    size: 140,
    meta: { align: 'right' },
  }),
  column.accessor((row) => `${row.rule.window_minutes} minutes`, {
    id: 'window',
    header: 'Window',
    size: 130,
    meta: { align: 'right', from: 'md' },
  }),
  column.accessor('endpoint', {
    header: 'Endpoint',
    meta: { grow: true, from: 'sm' },
    cell: ({ row: { original } }) => (
      <LinkText
        to="/webhooks/$webhookId"
        params={{ webhookId: original.webhookId }}
        size="sm"
        title={original.endpoint}
      >
        {original.endpoint}
      </LinkText>
    ),
  }),
])

interface AlertRulesTableProps {
  rules: readonly EndpointRule[]
  /** Called with a row that the user opens; absent if the user may not change rules. */
  onOpen: ((rule: EndpointRule) => void) | undefined
}

/** Shows one row for each rule of each endpoint. */
export function AlertRulesTable({ rules, onOpen }: AlertRulesTableProps) {
  return (
    <DataTable label="Alert rules" rows={rules} columns={columns} rowId={({ id }) => id} {...(onOpen && { onOpen })} />
  )
}
