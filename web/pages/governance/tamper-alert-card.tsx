import { Code, Group, List, Paper, Spoiler, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { IconShieldX } from '@tabler/icons-react'
import { useId } from 'react'
import { ActorName } from '../../components/actor-name.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { isObject } from '../../ui/is-object.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { meaningOf } from './failed-checks.ts'
import { type GovernanceEvent, recordIdOf } from './governance-event.ts'
import { SubjectLink } from './subject-link.tsx'

const foundHeight = 96

/** Shows one tamper alert: the affected object, the time, the failed checks, and how to verify it. */
export function TamperAlertCard({ event }: { event: GovernanceEvent }) {
  const id = useId()
  const recordId = recordIdOf(event)
  const checks = Array.isArray(event.details.failed_checks) ? event.details.failed_checks.map(String) : []
  const { found } = event.details
  return (
    <Paper withBorder p="md" component="article" aria-labelledby={id}>
      <Group align="flex-start" gap="md" wrap="nowrap">
        <ThemeIcon color="red" variant="light" size={36} radius="md" aria-hidden>
          <IconShieldX size={20} />
        </ThemeIcon>
        <Stack gap="xs" flex={1} miw={0}>
          <Title order={2} size="h4" id={id} style={{ overflowWrap: 'anywhere' }}>
            <SubjectLink subject={event.subject} />
          </Title>
          <Text size="sm" c="dimmed">
            Found <TimeText iso={event.created_at} /> by <ActorName id={event.actor} />
          </Text>
          <List size="sm" spacing={4}>
            {checks.map((check) => (
              <List.Item key={check}>
                {meaningOf(check)} <Code>{check}</Code>
              </List.Item>
            ))}
          </List>
          {isObject(found) && Object.keys(found).length > 0 && (
            <Spoiler maxHeight={foundHeight} showLabel="Show all that was found" hideLabel="Show less">
              <Code block>{JSON.stringify(found, null, 2)}</Code>
            </Spoiler>
          )}
          <Group gap="xs">
            {recordId && (
              <LinkButton size="xs" to="/records/$recordId" params={{ recordId }} hash="verification-title">
                Verify in this browser
              </LinkButton>
            )}
            <LinkButton size="xs" variant="subtle" to="/governance" search={{ event: event.record_id }}>
              Open the event
            </LinkButton>
          </Group>
        </Stack>
      </Group>
    </Paper>
  )
}
