import { Menu, UnstyledButton } from '@mantine/core'
import { IconBuilding, IconCheck, IconChevronDown, IconPlus } from '@tabler/icons-react'
import { apiBaseUrl } from '../api/api-base-url.ts'
import { useMe } from '../api/me.ts'
import { knownTenants } from '../api/session.ts'
import styles from './tenant-switcher.module.css'

/** Signs in to another tenant, because a session belongs to one tenant. With single sign-on this is one step. */
function signInTo(tenant?: string): string {
  const query = new URLSearchParams({ ...(tenant && { tenant }), return_to: '/' })
  return `${apiBaseUrl}/sign-in?${query}`
}

/** Shows the current tenant, and links to the others that this browser signed in to. */
export function TenantSwitcher() {
  const { tenant } = useMe()
  const others = knownTenants().filter((each) => each !== tenant)
  return (
    <Menu position="bottom-start" width={240}>
      <Menu.Target>
        <UnstyledButton className={styles.tenant} aria-label={`Tenant ${tenant}. Change tenant`}>
          <span className={styles.name}>{tenant}</span>
          <IconChevronDown size={14} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Tenant</Menu.Label>
        <Menu.Item leftSection={<IconCheck size={16} />} aria-current="true">
          {tenant}
        </Menu.Item>
        {others.map((other) => (
          <Menu.Item key={other} component="a" href={signInTo(other)} leftSection={<IconBuilding size={16} />}>
            {other}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item component="a" href={signInTo()} leftSection={<IconPlus size={16} />}>
          Sign in to another tenant
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
