import { Anchor, Box, Code, Drawer, Group, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ActorName } from '../../components/actor-name.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { ChangeList } from './change-list.tsx'
import { inWords } from './changes.ts'
import type { GovernanceEvent } from './governance-event.ts'
import { SubjectLink } from './subject-link.tsx'

/** Members of the details that stand elsewhere in the drawer. */
const told = new Set(['actor', 'before', 'after'])

interface EventDrawerProps {
  event: GovernanceEvent | undefined
  onClose(): void
}

/** All that one event says. */
export function EventDrawer({ event, onClose }: EventDrawerProps) {
  return (
    <Drawer
      opened={event !== undefined}
      onClose={onClose}
      position="right"
      size="lg"
      title={event?.event_kind}
      closeButtonProps={{ 'aria-label': 'Close details' }}
    >
      {event && <EventDetails event={event} />}
    </Drawer>
  )
}

function EventDetails({ event }: { event: GovernanceEvent }) {
  const others = Object.entries(event.details).filter(([member]) => !told.has(member))
  return (
    <Stack gap="lg">
      <Stack gap={8} component="dl" m={0}>
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
      </Stack>
      <ChangeList before={event.details.before} after={event.details.after} />
      {others.length > 0 && (
        <Box component="section" aria-labelledby="event-details">
          <Title order={3} size="h4" mb="xs" id="event-details">
            Details
          </Title>
          <Stack gap={8} component="dl" m={0}>
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
          </Stack>
        </Box>
      )}
      <Anchor
        size="sm"
        renderRoot={(props) => <Link to="/records/$recordId" params={{ recordId: event.record_id }} {...props} />}
      >
        Open the event as a record, and verify it in this browser
      </Anchor>
    </Stack>
  )
}

function Member({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <Group gap="sm" align="flex-start" wrap="nowrap">
      <Text component="dt" size="sm" c="dimmed" w={120} flex="none" tt="capitalize">
        {name}
      </Text>
      <Text component="dd" size="sm" m={0} miw={0} flex={1} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </Group>
  )
}
