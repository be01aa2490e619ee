import {
  Button,
  Group,
  List,
  Paper,
  SegmentedControl,
  Skeleton,
  Stack,
  Text,
  Title,
  useMantineColorScheme,
} from '@mantine/core'
import { IconLogout } from '@tabler/icons-react'
import { useState } from 'react'
import { scopes } from '../../../contract/scopes.ts'
import { api, hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { signOut } from '../../api/session.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { roleLabels, roleMeanings } from '../../components/role-labels.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { nothing } from '../../ui/formats.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { type Session, SessionsTable } from './sessions-table.tsx'

/** Shows the signed-in user, their permissions, their sessions, and the theme. */
export default function AccountPage() {
  const person = api.useQuery('get', '/api/v1/auth/me', {}, { staleTime: Number.POSITIVE_INFINITY })
  const failure: unknown = person.error
  // The token contains the rest at once, so that nothing below moves when the name arrives.
  const { role, scopes: held, subject } = useMe()
  const known = (text: string | undefined) =>
    text ?? (person.isPending ? <Skeleton height={21} maw="14rem" /> : nothing)
  const sessions = api.useQuery('get', '/api/v1/auth/sessions', { params: { query: { limit: 1000 } } })
  const [ending, setEnding] = useState<Session>()
  const [leaving, setLeaving] = useState(false)
  const { colorScheme, setColorScheme } = useMantineColorScheme()

  return (
    <>
      <PageHeader title="You" about="Your account in this tenant, and where you are signed in." />
      <Stack gap="xl">
        <Paper withBorder p="md" component="section" aria-label="Account">
          <DescriptionList>
            <DescriptionItem name="Name">{known(person.data?.display_name)}</DescriptionItem>
            <DescriptionItem name="Address">{known(person.data?.email)}</DescriptionItem>
            {role && (
              <DescriptionItem name="Role">
                {roleLabels[role]}: {roleMeanings[role].toLowerCase()}
              </DescriptionItem>
            )}
            <DescriptionItem name="Id">
              <CopyText value={subject} label="Copy your id" />
            </DescriptionItem>
            <DescriptionItem name="Permissions">
              <List size="sm" listStyleType="none" spacing={4}>
                {[...held].map((scope) => (
                  <List.Item key={scope}>
                    {scopes[scope]}{' '}
                    <Text span size="xs" c="dimmed" ff="monospace">
                      {scope}
                    </Text>
                  </List.Item>
                ))}
              </List>
            </DescriptionItem>
          </DescriptionList>
          {failure !== null && (
            <ProblemNotice error={failure} title="Could not load your name" onRetry={() => void person.refetch()} />
          )}
        </Paper>

        <Stack component="section" aria-labelledby="sessions" gap="sm">
          <Group justify="space-between">
            <Title order={2} id="sessions">
              Sessions
            </Title>
            <Button
              variant="default"
              color="red"
              leftSection={<IconLogout size={16} />}
              onClick={() => setLeaving(true)}
            >
              Sign out everywhere
            </Button>
          </Group>
          <QueryBoundary query={sessions} what="sessions">
            {({ items }) => <SessionsTable sessions={items} onEnd={setEnding} />}
          </QueryBoundary>
        </Stack>

        <Stack component="section" aria-labelledby="appearance" gap="sm" align="flex-start">
          <Title order={2} id="appearance">
            Appearance
          </Title>
          <SegmentedControl
            aria-label="Theme"
            value={colorScheme}
            onChange={(value) => setColorScheme(value as typeof colorScheme)}
            data={[
              { value: 'light', label: 'Light' },
              { value: 'dark', label: 'Dark' },
              { value: 'auto', label: 'As the system' },
            ]}
          />
          <Text size="sm" c="dimmed">
            Kept in this browser.
          </Text>
        </Stack>
      </Stack>
      <ConfirmDialog
        opened={ending !== undefined}
        onClose={() => setEnding(undefined)}
        title="End this session?"
        confirmLabel="End session"
        danger
        failed="The session goes on"
        send={() =>
          hub.DELETE('/api/v1/auth/sessions/{session_id}', {
            params: { path: { session_id: ending?.session_id ?? '' } },
          })
        }
        done="The session has ended."
        refresh={['/api/v1/auth/sessions']}
      >
        <Text size="sm">The person who uses it must sign in again; open pages stop working within 5 seconds.</Text>
      </ConfirmDialog>
      <ConfirmDialog
        opened={leaving}
        onClose={() => setLeaving(false)}
        title="Sign out everywhere?"
        confirmLabel="Sign out everywhere"
        danger
        failed="You are still signed in"
        send={() => signOut({ everywhere: true })}
      >
        <Text size="sm">All your sessions end, this one too. You can sign in again at once.</Text>
      </ConfirmDialog>
    </>
  )
}
