import { ActionIcon, Menu, Text } from '@mantine/core'
import { IconApi, IconBook2, IconLogout, IconUserCircle } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { apiBaseUrl } from '../api/api-base-url.ts'
import { api } from '../api/api-client.ts'
import { useMe } from '../api/me.ts'
import { signOut } from '../api/session.ts'
import { toastProblem } from '../components/toast.ts'

/** Shows the signed-in user and the sign-out button. */
export function AccountMenu() {
  const { role, subject } = useMe()
  // Requested when the menu opens: it counts as one of ten calls a minute.
  const person = api.useQuery('get', '/api/v1/auth/me', {}, { enabled: false, staleTime: Number.POSITIVE_INFINITY })
  return (
    <Menu position="bottom-end" width={260} onOpen={() => void (person.data ?? person.refetch())}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Your account">
          <IconUserCircle size={20} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" c="var(--mantine-color-text)" truncate>
            {person.data?.display_name ?? person.data?.email ?? subject}
          </Text>
          {person.data?.display_name && (
            <Text size="xs" truncate>
              {person.data.email}
            </Text>
          )}
          {role && <Text size="xs">{`Role: ${role}`}</Text>}
        </Menu.Label>
        <Menu.Item component={Link} to="/settings" leftSection={<IconUserCircle size={16} />}>
          You and your sessions
        </Menu.Item>
        <Menu.Item component="a" href={`${apiBaseUrl}/docs/`} leftSection={<IconBook2 size={16} />}>
          Documentation
        </Menu.Item>
        <Menu.Item component="a" href={`${apiBaseUrl}/reference`} leftSection={<IconApi size={16} />}>
          API reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLogout size={16} />}
          onClick={() => signOut().catch((error: unknown) => toastProblem(error, 'You are still signed in'))}
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
