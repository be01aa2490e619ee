import { Stack, Text } from '@mantine/core'
import { api } from '../../api/hub.ts'
import { useMe } from '../../api/me.ts'
import { ActorName } from '../../components/actor-name.tsx'
import { LinkText } from '../../components/link-text.tsx'
import { Notice } from '../../ui/notice.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import type { HubRecord } from '../records/columns.tsx'

const dayMs = 86_400_000

/** Whether it is purged, what keeps it, and when it goes: for whoever may know. */
export function RecordState({ record }: { record: HubRecord }) {
  const me = useMe()
  const { data: state } = api.useQuery(
    'get',
    '/api/v1/hub/records/{record_id}/state',
    { params: { path: { record_id: record.record_id } } },
    { enabled: me.may('getRecordState') },
  )
  return (
    <Stack gap="sm">
      {record.is_purged && (
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
      )}
      {state && state.holds.length > 0 && (
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
      )}
    </Stack>
  )
}

/** Until when it is kept at least, and when it goes by itself. */
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
