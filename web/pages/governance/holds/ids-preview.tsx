import { List, Paper, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQueries } from '@tanstack/react-query'
import { hub } from '../../../api/api-client.ts'
import type { HubRecord } from '../../../api/hub-record.ts'
import { ProblemNotice } from '../../../components/problem-notice.tsx'
import { formatCount } from '../../../ui/formats.ts'
import { isRecordId } from './hold-values.ts'
import { RecordLines } from './record-lines.tsx'

/** Maximum number of ids that are looked up: each is one request. The service checks all. */
const lookedUpMax = 10
const typingMs = 400

/** Shows how many records are named, the first of them, and which of these ids are unknown. */
export function IdsPreview({ ids }: { ids: readonly string[] }) {
  const valid = ids.filter(isRecordId)
  const [settled] = useDebouncedValue(valid.slice(0, lookedUpMax).join(' '), typingMs)
  const first = settled === '' ? [] : settled.split(' ')
  const queries = useQueries({
    queries: first.map((id) => ({
      queryKey: ['record of a hold', id],
      queryFn: () => recordOf(id),
      staleTime: 60_000,
    })),
  })
  const failed = queries.find(({ error }) => error)
  const unknown = first.filter((_, place) => queries[place]?.data === null)
  return (
    <Paper withBorder p="sm" bg="var(--mantine-color-default-hover)" aria-live="polite" mih={64}>
      <Text size="sm" fw={600} mb={6}>
        {valid.length === 1 ? '1 record named' : `${formatCount(valid.length)} records named`}
      </Text>
      {failed ? (
        <ProblemNotice
          error={failed.error}
          title="The records could not be looked up"
          onRetry={() => void failed.refetch()}
        />
      ) : (
        <>
          <RecordLines records={queries.flatMap(({ data }) => data ?? [])} />
          <List size="sm" listStyleType="none" spacing={2}>
            {unknown.map((id) => (
              <List.Item key={id}>
                <Text size="sm" c="var(--mantine-color-error)" style={{ overflowWrap: 'anywhere' }}>
                  {`No record has the id ${id}.`}
                </Text>
              </List.Item>
            ))}
          </List>
          {queries.some(({ isPending }) => isPending) && (
            <Text size="sm" c="dimmed">
              Looking up the records …
            </Text>
          )}
        </>
      )}
      {valid.length > lookedUpMax && (
        <Text size="xs" c="dimmed" mt={6}>
          {`The first ${lookedUpMax} are shown. All are checked when the hold is placed.`}
        </Text>
      )}
    </Paper>
  )
}

/** Returns a record, purged ones included, because holds keep those as well; null if there is none. */
async function recordOf(record_id: string): Promise<HubRecord | null> {
  const query = { record_id, include_purged: true, limit: 1 }
  const { data } = await hub.GET('/api/v1/hub/records', { params: { query } })
  return data?.records[0] ?? null
}
