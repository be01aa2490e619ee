import { Text } from '@mantine/core'
import { canSee } from '../../../contract/record-visibility.ts'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { RecordLink } from '../../components/record-link.tsx'
import { titleOfRecord } from '../../components/record-type.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { AttentionList } from '../command-center/attention-card.tsx'
import { UsageSection } from './usage-section.tsx'

const shown = 5

/** Shows the newest decisions that a person recorded. */
export function DecisionsOf({ userId }: { userId: string }) {
  const { may, scopes } = useMe()
  const isAsked = may('queryRecords') && canSee(scopes, 'decision')
  const search = { record_type: 'decision', created_by: userId } as const
  const query = { ...search, sort: '-created_at', limit: shown } as const
  const decisions = api.useQuery('get', '/api/v1/hub/records', { params: { query } }, { enabled: isAsked })
  if (!isAsked) return null
  return (
    <UsageSection
      title="Decisions"
      more={
        <LinkText to="/records" search={search} size="sm">
          All decisions
        </LinkText>
      }
    >
      <QueryBoundary query={decisions} what="decisions">
        {({ records }) =>
          records.length === 0 ? (
            <Text size="sm">This person recorded no decision.</Text>
          ) : (
            <AttentionList
              items={records.map((record) => ({
                id: record.record_id,
                name: <RecordLink id={record.record_id}>{titleOfRecord(record)}</RecordLink>,
                said: <TimeText iso={record.created_at} />,
              }))}
            />
          )
        }
      </QueryBoundary>
    </UsageSection>
  )
}
