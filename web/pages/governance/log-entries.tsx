import { Paper, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type RecordType, recordTypes } from '../../../contract/literals.ts'
import { type ApiResponse, hub } from '../../api/api-client.ts'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { looksOf, RecordTypeBadge } from '../../components/record-type.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { formatCount } from '../../ui/formats.ts'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { shortId } from './subject-address.ts'

type Entry = ApiResponse<'listLogEntries'>['items'][number]

const shownMax = 30

const column = columnsOf<Entry>()
const columns = column.columns([
  column.accessor('log_index', {
    id: 'index',
    header: 'Entry',
    size: 85,
    meta: { align: 'right' },
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  column.accessor('leaf_index', {
    id: 'leaf',
    header: 'Leaf',
    size: 80,
    meta: { align: 'right', from: 'md' },
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  column.display({
    id: 'type',
    header: 'Type',
    size: 170,
    meta: { from: 'sm' },
    cell: ({ row: { original } }) => {
      const type = original.record?.record_type as RecordType | undefined
      if (original.erased) return <Text size="sm">Erased</Text>
      return type && recordTypes.includes(type) ? <RecordTypeBadge type={type} /> : null
    },
  }),
  column.accessor('record_id', {
    id: 'record',
    header: 'Record',
    meta: { grow: true },
    cell: ({ getValue, row: { original } }) => (
      <>
        {/* The row itself opens the link by the keyboard. */}
        <LinkText
          to="/records/$recordId"
          params={{ recordId: getValue() }}
          tabIndex={-1}
          inherit
          ff="monospace"
          title={getValue()}
        >
          <Text span inherit visibleFrom="sm">
            {getValue()}
          </Text>
          <Text span inherit hiddenFrom="sm">
            {shortId(getValue())}
          </Text>
        </LinkText>
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          {typeOf(original)} · <Written entry={original} />
        </Text>
      </>
    ),
  }),
  column.display({
    id: 'time',
    header: 'Written',
    size: 205,
    meta: { from: 'md' },
    cell: ({ row: { original } }) => <Written entry={original} />,
  }),
])

function typeOf({ erased, record }: Entry): string {
  return erased ? 'Erased' : looksOf(record?.record_type as RecordType).short
}

function Written({ entry }: { entry: Entry }) {
  const time = entry.record?.created_at
  return typeof time === 'string' ? <TimeText iso={time} /> : null
}

/** Shows the newest log entries. An entry is a seal, whose leaves are records. */
export function LogEntries({ treeSize }: { treeSize: number }) {
  const navigate = useNavigate()
  const query = useQuery({ queryKey: ['newest entries of the log', treeSize], queryFn: newest })
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="log-entries">
      <Title order={2} size="h3" mb={4} id="log-entries">
        Recent entries
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        An entry is a seal over the records that were written together; each of them is a leaf of it.
      </Text>
      <QueryBoundary query={query} what="entries">
        {(entries) => (
          <DataTable
            label="Recent entries of the log, latest first"
            rows={entries}
            columns={columns}
            rowId={({ record_id }) => record_id}
            onOpen={({ record_id }) => void navigate({ to: '/records/$recordId', params: { recordId: record_id } })}
            maxHeight="26rem"
          />
        )}
      </QueryBoundary>
    </Paper>
  )
}

/** Reads the newest entries. The feed runs forward only, so this starts a few entries before the end. */
async function newest(): Promise<Entry[]> {
  const { data: page } = await hub.GET('/api/v1/hub/records', {
    params: { query: { sort: '-created_at', limit: shownMax, include_purged: true } },
  })
  const after = page && page.records.length === shownMax ? page.records.at(-1)?.record_id : undefined
  const { data } = await hub.GET('/api/v1/hub/log/entries', {
    params: { query: { limit: shownMax * 2, ...(after && { after }) } },
  })
  return (data?.items ?? []).slice(-shownMax).reverse()
}
