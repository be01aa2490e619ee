import { Badge, Text } from '@mantine/core'
import { IconGavel } from '@tabler/icons-react'
import { api } from '../../api/api-client.ts'
import type { HubRecord } from '../../api/hub-record.ts'
import { useMe } from '../../api/me.ts'
import { ActorName } from '../../components/actor-name.tsx'
import { LinkText } from '../../components/link-text.tsx'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { Notice } from '../../ui/notice.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { useRecordState } from './use-record.ts'

const dayMs = 86_400_000

/** Shows that the record is purged, by whom, and when it is erased, for users who may know. */
export function RecordPurge({ record }: { record: HubRecord }) {
  const { data: state } = useRecordState(record.record_id)
  if (!record.is_purged) return null
  return (
    <Notice kind="warning" title="Purged">
      <Text size="sm">
        {state?.purged_at && (
          <>
            <TimeText iso={state.purged_at} /> by <ActorName id={state.purged_by ?? ''} />: “{state.purge_reason}”.{' '}
          </>
        )}
        {state?.hard_delete_after ? (
          <>
            It can be restored until <TimeText iso={state.hard_delete_after} />, and is erased afterwards.
          </>
        ) : state ? (
          'A legal hold stops the clock: it is not erased while the hold is over it.'
        ) : (
          'It can be restored for 30 days, and is erased afterwards.'
        )}
      </Text>
    </Notice>
  )
}

/** Shows in the header that a hold covers the record; `RecordHolds` lists the holds. */
export function HeldBadge({ record }: { record: HubRecord }) {
  const { data: state } = useRecordState(record.record_id)
  if (!state || state.holds.length === 0) return null
  return (
    <Badge variant="light" color="blue" leftSection={<IconGavel size={13} aria-hidden />}>
      Held
    </Badge>
  )
}

/** Lists the legal holds over the record, or states that they are unknown. */
export function RecordHolds({ record }: { record: HubRecord }) {
  const query = useRecordState(record.record_id)
  const { data: state } = query
  const error: unknown = query.error
  if (error)
    return (
      <ProblemNotice
        error={error}
        title="Whether a legal hold is over it is not known"
        onRetry={() => void query.refetch()}
      />
    )
  if (!state || state.holds.length === 0) return null
  return (
    <Notice
      kind="info"
      title={state.holds.length === 1 ? 'Under a legal hold' : `Under ${state.holds.length} legal holds`}
    >
      <Text size="sm">
        It cannot be purged or erased meanwhile:{' '}
        {state.holds.map(({ hold_id, name }, index) => (
          <span key={hold_id}>
            {index > 0 && ', '}
            <LinkText inherit c="inherit" underline="always" to="/governance/holds" search={{ hold: hold_id }}>
              {name}
            </LinkText>
          </span>
        ))}
        {state.truncated && ' and more'}.
      </Text>
    </Notice>
  )
}

/** Shows until when the record is kept at least, and when retention purges it. */
export function RecordRetention({ record }: { record: HubRecord }) {
  const me = useMe()
  const { data: retention } = api.useQuery(
    'get',
    '/api/v1/hub/retention-rules',
    {},
    { enabled: me.may('getRetentionRules') },
  )
  const rule = retention?.rules.find(({ record_type }) => record_type === record.record_type)
  const created = Date.parse(record.created_at)
  const keptUntil = rule?.min_days ? created + rule.min_days * dayMs : undefined
  const goesAt = rule?.max_days ? created + rule.max_days * dayMs : undefined
  if (record.is_purged || (keptUntil ?? goesAt) === undefined) return null
  return (
    <Text size="sm" c="dimmed">
      {keptUntil !== undefined && keptUntil > Date.now() && (
        <>
          By the{' '}
          <LinkText inherit underline="always" to="/governance/retention">
            retention rules
          </LinkText>{' '}
          it cannot be purged before <TimeText iso={new Date(keptUntil).toISOString()} form="date" />.{' '}
        </>
      )}
      {goesAt !== undefined && (
        <>
          The Hub purges it by itself after <TimeText iso={new Date(goesAt).toISOString()} form="date" />.
        </>
      )}
    </Text>
  )
}
