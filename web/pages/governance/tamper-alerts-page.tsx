import { Button, Stack, Text } from '@mantine/core'
import { IconShieldCheck } from '@tabler/icons-react'
import { useMe } from '../../api/me.ts'
import { Help } from '../../components/help.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Notice } from '../../ui/notice.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { TamperAlertCard } from './tamper-alert-card.tsx'
import { useEvents } from './use-events.ts'

export default function TamperAlertsPage() {
  const me = useMe()
  const { query, events, more } = useEvents({ event_kind: 'hub.tamper_detected' })
  return (
    <>
      <PageHeader
        title="Tamper alerts"
        help={<Help term="Integrity scan" />}
        about="Differences that a verification or the sweeper found. Each subject is reported once a day until it is repaired."
      />
      <QueryBoundary query={query} what="tamper alerts">
        {() =>
          events.length === 0 ? (
            <EmptyState
              title="No tampering detected"
              icon={IconShieldCheck}
              action={me.may('getLogCheckpoint') && <LinkButton to="/governance/log">Check the log</LinkButton>}
            >
              The sweeper looks at every record, seal and hold in turn, and everything that is read with verification is
              checked. No check has failed.
            </EmptyState>
          ) : (
            <Stack gap="md">
              <Notice kind="danger" title="What to do now">
                <Text size="sm">
                  Look at each one yourself: your browser verifies a record by the published keys, without the word of
                  the Hub. Keep an export of what it should be compared with, and ask the operator for a backup from
                  before and for the audit of the log. An edited record is kept for inspection.
                </Text>
              </Notice>
              {events.map((event) => (
                <TamperAlertCard key={event.record_id} event={event} />
              ))}
              {more.available && (
                <Button variant="default" onClick={more.load} loading={more.loading}>
                  Show earlier alerts
                </Button>
              )}
            </Stack>
          )
        }
      </QueryBoundary>
    </>
  )
}
