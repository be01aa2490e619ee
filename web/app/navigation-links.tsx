import { NavLink } from '@mantine/core'
import { Link, useRouterState } from '@tanstack/react-router'
import { useMe } from '../api/me.ts'
import { sectionsFor } from './navigation.ts'

/** Shows the sections that the user's role may open. */
export function NavigationLinks() {
  const me = useMe()
  const pathname = useRouterState({ select: (state) => state.location.pathname })
  return sectionsFor(me).map(({ to, label, icon: Icon, pages }) => {
    const active = to === '/' ? pathname === '/' : pathname === to || pathname.startsWith(`${to}/`)
    return (
      <NavLink
        key={to}
        component={Link}
        to={pages?.[0]?.to ?? to}
        label={label}
        leftSection={<Icon size={18} stroke={1.7} />}
        active={active}
        aria-current={active ? 'page' : undefined}
        variant="light"
        style={{ borderRadius: 'var(--mantine-radius-md)' }}
      />
    )
  })
}
