import { Group, Progress, Text } from '@mantine/core'
import { createContext, useContext } from 'react'
import { LinkText } from '../../components/link-text.tsx'
import { describeRecordFilter } from '../../components/record-filter.ts'
import { capitalised } from '../../ui/capitalised.ts'
import { DataTable, type DataTableProps } from '../../ui/data-table.tsx'
import { formatCount } from '../../ui/formats.ts'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { type ExportJob, formatLabel, goodUntil, isUnderWay } from './export-job.ts'
import { ExportStatus } from './export-status.tsx'
import { type ExportRequest, useExportRequests } from './use-export-requests.ts'

const column = columnsOf<ExportJob>()
const columns = column.columns([
  column.accessor('job_id', {
    id: 'job',
    header: 'Export',
    size: 190,
    meta: { grow: true },
    cell: ({ row: { original: job } }) => <What job={job} />,
  }),
  column.accessor('status', {
    id: 'status',
    header: 'Status',
    size: 130,
    cell: ({ getValue }) => <ExportStatus status={getValue()} />,
  }),
  column.accessor('format', {
    id: 'format',
    header: 'Format',
    size: 110,
    meta: { from: 'md' },
    cell: ({ row: { original: job } }) => formatLabel(job),
  }),
  column.display({
    id: 'records',
    header: 'Records',
    size: 120,
    meta: { from: 'sm', align: 'right' },
    cell: ({ row: { original: job } }) =>
      isUnderWay(job) ? (
        <Group gap={8} wrap="nowrap" justify="flex-end">
          <Progress
            flex={1}
            value={job.progress.total > 0 ? (100 * job.progress.done) / job.progress.total : 0}
            aria-label={`${formatCount(job.progress.done)} of ${formatCount(job.progress.total)} records`}
          />
          <Text size="sm">{formatCount(job.progress.done)}</Text>
        </Group>
      ) : (
        formatCount(job.progress.done)
      ),
  }),
  column.display({
    id: 'verified',
    header: 'Verified',
    size: 90,
    meta: { from: 'lg' },
    cell: ({ row: { original: job } }) => <Verified job={job} />,
  }),
  column.accessor('created_at', {
    id: 'created',
    header: 'Requested',
    size: 130,
    meta: { from: 'md' },
    cell: ({ getValue }) => <TimeText iso={getValue()} form="ago" />,
  }),
  column.display({
    id: 'until',
    header: 'Available until',
    size: 140,
    meta: { from: 'lg' },
    cell: ({ row: { original: job } }) => {
      const until = goodUntil(job)
      return until ? <TimeText iso={until} form="ago" /> : null
    },
  }),
])

/** Export requests by id of the job; undefined while unknown. */
const Orders = createContext<ReadonlyMap<string, ExportRequest> | undefined>(undefined)

/** Shows the scope of an export, or its format if the user may not see the scope. */
function What({ job }: { job: ExportJob }) {
  const order = useContext(Orders)?.get(job.job_id)
  return (
    <>
      {/* The row itself opens the link by the keyboard. */}
      <LinkText
        to="/exports/$jobId"
        params={{ jobId: job.job_id }}
        tabIndex={-1}
        size="sm"
        fw={500}
        display="block"
        truncate
      >
        {order ? capitalised(describeRecordFilter(order.filter)) : `Export as ${formatLabel(job)}`}
      </LinkText>
      <Text size="xs" c="dimmed" truncate hiddenFrom="md">
        <TimeText iso={job.created_at} />
      </Text>
      <Text size="xs" c="dimmed" ff="monospace" truncate visibleFrom="md">
        {job.job_id}
      </Text>
    </>
  )
}

function Verified({ job: { verification_summary: summary } }: { job: ExportJob }) {
  if (!summary) return null
  const failed = summary.checked - summary.verified
  return failed === 0 ? (
    <Text size="sm">All</Text>
  ) : (
    <Text size="sm" fw={600} c="red.8">
      {formatCount(failed)} failed
    </Text>
  )
}

type ExportsTableProps = Pick<DataTableProps<ExportJob>, 'onOpen' | 'more'> & { jobs: readonly ExportJob[] }

export function ExportsTable({ jobs, ...rest }: ExportsTableProps) {
  const orders = useExportRequests(jobs, Number.POSITIVE_INFINITY)
  return (
    <Orders value={orders}>
      <DataTable label="Exports, latest first" rows={jobs} columns={columns} rowId={({ job_id }) => job_id} {...rest} />
    </Orders>
  )
}
