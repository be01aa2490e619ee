import { Text } from '@mantine/core'
import { canSee } from '../../../contract/record-visibility.ts'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { LinkText } from '../../components/link-text.tsx'
import { Notice } from '../../ui/notice.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import type { Health } from './checklist-steps.ts'

interface LiveNoticeProps {
  health: Health
  /** True if every check is met but those that a trial does not need. */
  isComplete: boolean
}

/** Shows whether and since when the tenant is live, with the event that records it. */
export function LiveNotice({ health: { live, live_since }, isComplete }: LiveNoticeProps) {
  const me = useMe()
  const event = api.useQuery(
    'get',
    '/api/v1/hub/records',
    { params: { query: { record_type: 'governance_event', event_kind: 'tenant.live', limit: 1 } } },
    { enabled: live_since !== undefined && canSee(me.scopes, 'governance_event') },
  )
  if (live_since === undefined) return null
  const recordId = event.data?.records[0]?.record_id
  return (
    <Notice kind={live || isComplete ? 'good' : 'warning'} title={titleOf(live, isComplete)} urgent>
      <Text size="sm">
        It received its first telemetry event on <TimeText iso={live_since} />.{' '}
        {recordId && (
          <LinkText to="/records/$recordId" params={{ recordId }} inherit underline="always">
            See the event
          </LinkText>
        )}
      </Text>
    </Notice>
  )
}

function titleOf(live: boolean, isComplete: boolean): string {
  if (live) return 'The tenant is live'
  return isComplete
    ? 'The tenant receives telemetry; the open checks are optional for a trial'
    : 'The tenant went live, but a check is not met now'
}
