import { Divider, NavLink } from '@mantine/core'
import { Link, useRouterState } from '@tanstack/react-router'
import { Fragment } from 'react'
import { useMe } from '../api/me.ts'
import { sectionAt, sectionsFor } from './navigation.ts'
import { useIsLive } from './use-is-live.ts'

/** Shows the sections that the user's role may open. */
export function NavigationLinks() {
  const me = useMe()
  const shown = sectionsFor(me, useIsLive())
  const current = useRouterState({ select: (state) => sectionAt(state.location.pathname, shown)?.to })
  const firstBelow = shown.find(({ group }) => group !== undefined)?.to
  return shown.map(({ to, label, icon: Icon, pages }) => (
    <Fragment key={to}>
      {to === firstBelow && <Divider my="sm" />}
      <NavLink
        component={Link}
        to={pages?.[0]?.to ?? to}
        // Else the link marks itself on every address below its own, such as Settings on People and roles.
        activeOptions={{ exact: true, includeSearch: false }}
        label={label}
        leftSection={<Icon size={18} stroke={1.7} />}
        active={to === current}
        aria-current={to === current ? 'page' : undefined}
        variant="light"
        style={{ borderRadius: 'var(--mantine-radius-md)' }}
      />
    </Fragment>
  ))
}
