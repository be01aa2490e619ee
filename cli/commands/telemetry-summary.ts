import type { Command } from 'commander'
import { pageSizeDefault, pageSizeMax } from '../../contract/limits.ts'
import type { Summary, SummaryQuery } from '../../sdk/typescript/src/index.ts'
import { summaryQuery } from '../../server/modules/telemetry/summary/summary-schemas.ts'
import { addPageOptions, collectPages, moreText } from '../collect-pages.ts'
import { openHub } from '../hub-connection.ts'
import { example, type OutputOptions, printResult } from '../output.ts'
import { addSchemaOptions } from '../query-options.ts'
import { type Column, terminalWidth, textTable } from '../text-table.ts'

interface SummaryOptions extends OutputOptions {
  limit: number
  cursor?: string
  [filter: string]: unknown
}

type Row = Summary['rows'][number]

/** Declares `telemetry summary`. */
export function addTelemetrySummary(telemetry: Command): void {
  const command = telemetry
    .command('summary')
    .description('Show usage, failures, tokens, costs and latency by group and period')
    .addHelpText('after', example('telemetry summary --group-by skill --interval day'))
  const filters = addSchemaOptions(command, summaryQuery, ['limit', 'cursor'])
  addPageOptions(command, pageSizeDefault)
    .option('--json', 'print one JSON object')
    .action(async (options: SummaryOptions) => {
      const hub = await openHub()
      const query = filters.read(options) as SummaryQuery
      const { items, next_cursor, page } = await collectPages<Row, Summary>(
        (limit, cursor) => hub.telemetry.summary({ ...query, limit, ...(cursor && { cursor }) }),
        ({ rows }) => rows,
        { limit: options.limit, cursor: options.cursor, pageSize: pageSizeMax },
      )
      const { totals } = page
      const table = textTable(columnsOf(query), [...items, { ...totals, key: 'Total' }], terminalWidth())
      printResult(options, { rows: items, totals, next_cursor }, `${table}${moreText(next_cursor)}`)
    })
}

function columnsOf({ interval, group_by }: SummaryQuery): Column<Row>[] {
  const number = (heading: string, value: (row: Row) => number): Column<Row> => ({
    heading,
    value: (row) => value(row).toLocaleString('en-US', { maximumFractionDigits: 6 }),
    isRight: true,
  })
  return [
    ...(interval ? [{ heading: 'START', value: ({ start }: Row) => start?.slice(0, 16) }] : []),
    { heading: group_by?.toUpperCase() ?? '', value: ({ key }) => (key === null ? '(none)' : key) },
    number('EVENTS', ({ invocations }) => invocations),
    number('FAILED', ({ failures }) => failures),
    number('TOKENS IN', ({ tokens_in }) => tokens_in),
    number('TOKENS OUT', ({ tokens_out }) => tokens_out),
    number('REPORTED USD', ({ cost_usd_estimate }) => cost_usd_estimate),
    number('CALCULATED USD', ({ cost_usd_computed }) => cost_usd_computed),
    number('P50 MS', ({ latency_ms }) => latency_ms.p50),
    number('P95 MS', ({ latency_ms }) => latency_ms.p95),
  ]
}
