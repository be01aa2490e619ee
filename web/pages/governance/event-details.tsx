import { Box, Code, Stack, Text, Title } from '@mantine/core'
import { api } from '../../api/api-client.ts'
import { ActorName } from '../../components/actor-name.tsx'
import { titleOfEvent } from '../../components/event-titles.ts'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { capitalised } from '../../ui/capitalised.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { SidePanel } from '../../ui/dialog.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { describeName, describeValue } from './detail-labels.ts'
import { DiffTable } from './diff-table.tsx'
import { describeEvent } from './event-labels.ts'
import { type GovernanceEvent, governanceEventOf } from './governance-event.ts'
import { RawDetails } from './raw-details.tsx'
import { SubjectLink } from './subject-link.tsx'

/** Members of the details that the drawer shows elsewhere; ids of sessions and digests are only in the raw details. */
const shownElsewhere = new Set(['agent', 'before', 'after', 'row_digests', 'former_row_digests'])

interface EventDrawerProps {
  eventId: string | undefined
  /** The events of the page. A link may lead to an event that is not among them. */
  events: readonly GovernanceEvent[]
  onClose(): void
}

/** Shows one event in full. */
export function EventDrawer({ eventId, events, onClose }: EventDrawerProps) {
  const listed = events.find(({ record_id }) => record_id === eventId)
  const single = api.useQuery(
    'get',
    '/api/v1/hub/records/{record_id}',
    { params: { path: { record_id: eventId ?? '' } } },
    { enabled: eventId !== undefined && !listed },
  )
  const event = listed ?? (single.data && governanceEventOf(single.data))
  return (
    <SidePanel
      opened={eventId !== undefined}
      onClose={onClose}
      size="lg"
      kind="Governance event"
      title={event && titleOfEvent(event.event_kind)}
      closeButtonProps={{ 'aria-label': 'Close details' }}
    >
      {listed ? (
        <EventDetails event={listed} />
      ) : (
        eventId && (
          <QueryBoundary query={single} what="details of the event">
            {(record) => <EventDetails event={governanceEventOf(record)} />}
          </QueryBoundary>
        )
      )}
    </SidePanel>
  )
}

function EventDetails({ event }: { event: GovernanceEvent }) {
  const others = Object.entries(event.details).filter(
    ([member, value]) => !shownElsewhere.has(member) && !(member === 'actor' && value === event.actor),
  )
  const words = describeEvent(event)
  return (
    <Stack gap="lg">
      {words && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {words}
        </Text>
      )}
      <DescriptionList>
        <DescriptionItem name="Kind">
          <Code>{event.event_kind}</Code>
        </DescriptionItem>
        <DescriptionItem name="When">
          <TimeText iso={event.created_at} />
        </DescriptionItem>
        <DescriptionItem name="Who">
          <ActorName id={event.actor} />
          {event.agent !== undefined && <> by the agent “{event.agent}”</>}
        </DescriptionItem>
        <DescriptionItem name="About">
          <SubjectLink subject={event.subject} whole />
        </DescriptionItem>
        <DescriptionItem name="Event">
          <CopyText value={event.record_id} label="Copy the id of the event" />
        </DescriptionItem>
      </DescriptionList>
      <DiffTable before={event.details.before} after={event.details.after} />
      {others.length > 0 && (
        <Box component="section" aria-labelledby="event-details">
          <Title order={3} size="h4" mb="xs" id="event-details">
            Details
          </Title>
          <DescriptionList>
            {others.map(([member, value]) => (
              <DescriptionItem key={member} name={capitalised(describeName(member))}>
                {describeValue(value, Number.POSITIVE_INFINITY)}
              </DescriptionItem>
            ))}
          </DescriptionList>
        </Box>
      )}
      {Object.keys(event.details).length > 0 && <RawDetails details={event.details} />}
      <LinkText size="sm" to="/records/$recordId" params={{ recordId: event.record_id }}>
        Open the event as a record, and verify it in this browser
      </LinkText>
    </Stack>
  )
}
