import { Group, Loader, Paper, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import * as v from 'valibot'
import type { RecordFilter } from '../../../../contract/record-filter.ts'
import { hub } from '../../../api/api-client.ts'
import type { HubRecord } from '../../../api/hub-record.ts'
import { ProblemNotice } from '../../../components/problem-notice.tsx'
import { type FilterValues, filterOf, filterValues } from '../../../components/record-filter.ts'
import { formatCount } from '../../../ui/formats.ts'
import { RecordLines } from './record-lines.tsx'

const countedMax = 1000
const shownMax = 5
const typingMs = 400

interface Matches {
  count: number
  /** True if there are more than were counted. */
  isAtLeast: boolean
  newest: HubRecord[]
}

/** Shows how many records a filter matches now, and the newest of them, before an action. */
export function FilterPreview({ values }: { values: FilterValues }) {
  const [settled] = useDebouncedValue(values, typingMs)
  const query = useQuery({
    queryKey: ['matches of a filter', settled],
    queryFn: () => matchesOf(filterOf(settled)),
    enabled: v.is(filterValues, settled),
    placeholderData: keepPreviousData,
    gcTime: 0,
  })
  return (
    <Paper withBorder p="sm" bg="var(--mantine-color-default-hover)" aria-live="polite" mih={64}>
      {query.data ? (
        <>
          <Group gap="xs" mb={query.data.count > 0 ? 6 : 0}>
            <Text size="sm" fw={600}>
              {said(query.data)}
            </Text>
            {query.isFetching && <Loader size={12} aria-label="Counting again" />}
          </Group>
          <RecordLines records={query.data.newest} />
          {query.data.count > shownMax && (
            <Text size="xs" c="dimmed" mt={6}>
              The newest are shown. Links open in a new tab.
            </Text>
          )}
        </>
      ) : query.error ? (
        <ProblemNotice
          error={query.error}
          title="The records could not be counted"
          onRetry={() => void query.refetch()}
        />
      ) : (
        <Text size="sm" c="dimmed">
          Counting what matches …
        </Text>
      )}
    </Paper>
  )
}

function said({ count, isAtLeast }: Matches): string {
  if (count === 0) return 'No record matches now'
  const records = count === 1 ? 'record matches' : 'records match'
  return isAtLeast ? `At least ${formatCount(count)} records match now` : `${formatCount(count)} ${records} now`
}

/**
 * Counts the matches of a filter. The API has no count, so this reads one page of each type, including purged records,
 * because holds keep those as well.
 */
async function matchesOf({ record_type: types, ...rest }: RecordFilter): Promise<Matches> {
  const asked = types ?? [undefined]
  const pages = await Promise.all(
    asked.map(async (record_type) => {
      const query = {
        ...rest,
        ...(record_type && { record_type }),
        ...{ sort: '-created_at' as const, limit: countedMax, include_purged: true },
      }
      const { data } = await hub.GET('/api/v1/hub/records', { params: { query } })
      return data ?? { records: [], next_cursor: null }
    }),
  )
  const records = pages.flatMap((page) => page.records)
  const newest = records.sort((one, other) => other.created_at.localeCompare(one.created_at)).slice(0, shownMax)
  return { count: records.length, isAtLeast: pages.some(({ next_cursor }) => next_cursor !== null), newest }
}
