import { Text } from '@mantine/core'
import { canSee } from '../../../contract/record-visibility.ts'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { RecordLink } from '../../components/record-link.tsx'
import { titleOfRecord } from '../../components/record-type.tsx'
import { SnippetText } from '../../components/snippet-text.tsx'
import { AttentionList } from '../command-center/attention-card.tsx'
import { UsageSection } from './usage-section.tsx'

const shown = 5

/** Shows decisions whose text contains the words, by the full-text search. */
export function RelatedDecisions({ words }: { words: string }) {
  const { may, scopes } = useMe()
  const isAsked = may('searchRecords') && canSee(scopes, 'decision')
  const query = { q: words, record_type: 'decision', limit: shown } as const
  const found = api.useQuery(
    'get',
    '/api/v1/hub/search',
    { params: { query } },
    { enabled: isAsked, staleTime: 60_000 },
  )
  if (!isAsked) return null
  return (
    <UsageSection
      title="Decisions about it"
      more={
        <LinkText to="/records" search={{ q: words, record_type: 'decision' }} size="sm">
          Search decisions
        </LinkText>
      }
    >
      <QueryBoundary query={found} what="decisions">
        {({ results }) =>
          results.length === 0 ? (
            <Text size="sm">No decision contains its name.</Text>
          ) : (
            <AttentionList
              items={results.map(({ record, snippet }) => ({
                id: record.record_id,
                name: <RecordLink id={record.record_id}>{titleOfRecord(record)}</RecordLink>,
                said: <SnippetText snippet={snippet} />,
              }))}
            />
          )
        }
      </QueryBoundary>
    </UsageSection>
  )
}
