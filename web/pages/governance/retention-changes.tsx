import { List, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { hub } from '../../api/api-client.ts'
import { recordTypeLooks } from '../../components/record-type.tsx'
import { formatCount } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import { changesOf, type RetentionValues, type RuleChange } from './retention-rules.ts'

const dayMs = 86_400_000
const countedMax = 1000

/** Shows the effects of a change of the rules, with the number of records it purges at once. */
export function RetentionChanges({ before, after }: { before: RetentionValues; after: RetentionValues }) {
  const changes = changesOf(before, after)
  return (
    <Stack gap="sm">
      <List size="sm" spacing={6}>
        {changes.map((change) => (
          <List.Item key={`${change.record_type} ${change.words}`}>
            <strong>{recordTypeLooks[change.record_type].plural}</strong> {change.words}.
            {change.purgesOver !== undefined && <Affected change={change} days={change.purgesOver} />}
          </List.Item>
        ))}
        {before.four_eyes !== after.four_eyes && (
          <List.Item>
            <strong>Four eyes</strong>{' '}
            {after.four_eyes
              ? 'are required from now on. What somebody releases meanwhile they may never purge, also when this is switched off again.'
              : 'are not required any more, but for what was released while they were.'}
          </List.Item>
        )}
      </List>
      {changes.some(({ purgesOver }) => purgesOver !== undefined) && (
        <Notice kind="warning" title="The Hub begins to purge by itself">
          What it purges can be restored for 30 days, one by one. After that it is erased for good.
        </Notice>
      )}
      <Text size="sm" c="dimmed">
        The rules before and after, and that it was you, go into a governance event.
      </Text>
    </Stack>
  )
}

function Affected({ change: { record_type }, days }: { change: RuleChange; days: number }) {
  const { data, isError } = useQuery({
    queryKey: ['older than', record_type, days],
    gcTime: 0,
    queryFn: async () => {
      const created_at__lt = new Date(Date.now() - days * dayMs).toISOString()
      const answer = await hub.GET('/api/v1/hub/records', {
        params: { query: { record_type, created_at__lt, limit: countedMax } },
      })
      return { count: answer.data?.records.length ?? 0, isAtLeast: typeof answer.data?.next_cursor === 'string' }
    },
  })
  if (isError) return <> How many are that old could not be read.</>
  if (!data) return <> Counting those that are …</>
  if (data.count === 0) return <> None is that old now.</>
  return (
    <strong>
      {' '}
      {data.isAtLeast && 'At least '}
      {formatCount(data.count)} {data.count === 1 ? 'is' : 'are'} that old now.
    </strong>
  )
}
