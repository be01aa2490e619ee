import { Box, Code, Stack, Title } from '@mantine/core'
import { api } from '../../api/hub.ts'
import { ActorName } from '../../components/actor-name.tsx'
import { LinkText } from '../../components/link-text.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { SidePanel } from '../../ui/dialog.tsx'
import { Member, Members } from '../../ui/members.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { ChangeList } from './change-list.tsx'
import { inWords } from './changes.ts'
import { type GovernanceEvent, governanceEventOf } from './governance-event.ts'
import { SubjectLink } from './subject-link.tsx'

/** Members of the details that stand elsewhere in the drawer. */
const told = new Set(['before', 'after'])

interface EventDrawerProps {
  eventId: string | undefined
  /** Those that the page has: a link may lead to an event that it has not. */
  events: readonly GovernanceEvent[]
  onClose(): void
}

/** All that one event says. */
export function EventDrawer({ eventId, events, onClose }: EventDrawerProps) {
  const listed = events.find(({ record_id }) => record_id === eventId)
  const single = api.useQuery(
    'get',
    '/api/v1/hub/records/{record_id}',
    { params: { path: { record_id: eventId ?? '' } } },
    { enabled: eventId !== undefined && !listed },
  )
  return (
    <SidePanel
      opened={eventId !== undefined}
      onClose={onClose}
      size="lg"
      title={listed?.event_kind ?? 'Governance event'}
      closeButtonProps={{ 'aria-label': 'Close details' }}
    >
      {listed ? (
        <EventDetails event={listed} />
      ) : (
        eventId && (
          <Loaded query={single} what="details of the event">
            {(record) => <EventDetails event={governanceEventOf(record)} />}
          </Loaded>
        )
      )}
    </SidePanel>
  )
}

function EventDetails({ event }: { event: GovernanceEvent }) {
  const others = Object.entries(event.details).filter(
    ([member, value]) => !told.has(member) && !(member === 'actor' && value === event.actor),
  )
  return (
    <Stack gap="lg">
      <Members>
        <Member name="When">
          <TimeText iso={event.created_at} />
        </Member>
        <Member name="Who">
          <ActorName id={event.actor} />
        </Member>
        <Member name="About">
          <SubjectLink subject={event.subject} />
        </Member>
        <Member name="Event">
          <CopyText value={event.record_id} label="Copy the id of the event" />
        </Member>
      </Members>
      <ChangeList before={event.details.before} after={event.details.after} />
      {others.length > 0 && (
        <Box component="section" aria-labelledby="event-details">
          <Title order={3} size="h4" mb="xs" id="event-details">
            Details
          </Title>
          <Members>
            {others.map(([member, value]) => (
              <Member key={member} name={member.replaceAll('_', ' ')}>
                {typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? (
                  <TimeText iso={value} />
                ) : typeof value === 'object' && value !== null && !Array.isArray(value) ? (
                  <Code block>{JSON.stringify(value, null, 2)}</Code>
                ) : (
                  inWords(value)
                )}
              </Member>
            ))}
          </Members>
        </Box>
      )}
      <LinkText size="sm" to="/records/$recordId" params={{ recordId: event.record_id }}>
        Open the event as a record, and verify it in this browser
      </LinkText>
    </Stack>
  )
}
