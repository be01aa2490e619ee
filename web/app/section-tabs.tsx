import { Link, useRouterState } from '@tanstack/react-router'
import { useMe } from '../api/me.ts'
import { sectionsFor } from './navigation.ts'
import styles from './section-tabs.module.css'

/** The pages of the section one is in, as links above the page. */
export function SectionTabs() {
  const me = useMe()
  const pathname = useRouterState({ select: (state) => state.location.pathname })
  const section = sectionsFor(me).find(({ to }) => to !== '/' && (pathname === to || pathname.startsWith(`${to}/`)))
  if (!section?.pages || section.pages.length < 2) return null
  return (
    <nav aria-label={section.label} className={styles.tabs}>
      {section.pages.map(({ to, label }) => (
        <Link key={to} to={to} className={styles.tab} activeOptions={{ exact: true, includeSearch: false }}>
          {label}
        </Link>
      ))}
    </nav>
  )
}
