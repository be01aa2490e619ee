import { Link, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useMe } from '../api/me.ts'
import { sectionAt, sectionsFor } from './navigation.ts'
import styles from './section-tabs.module.css'
import { useIsLive } from './use-is-live.ts'

/** Shows the pages of the current section as links above the page. */
export function SectionTabs() {
  const me = useMe()
  const pathname = useRouterState({ select: (state) => state.location.pathname })
  const section = sectionAt(pathname, sectionsFor(me, useIsLive()))
  const tabs = useRef<HTMLElement>(null)
  // On a narrow screen the tabs go on beyond its edge.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the page one is on says which tab is the current one
  useEffect(() => {
    const row = tabs.current
    const current = row?.querySelector<HTMLElement>('[aria-current="page"]')
    if (row && current) row.scrollLeft = current.offsetLeft - (row.clientWidth - current.offsetWidth) / 2
  }, [pathname])
  if (!section?.pages || section.pages.length < 2) return null
  return (
    <nav ref={tabs} aria-label={section.label} className={styles.tabs}>
      {section.pages.map(({ to, label }) => (
        <Link
          key={to}
          to={to}
          className={styles.tab}
          data-label={label}
          activeOptions={{ exact: true, includeSearch: false }}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
