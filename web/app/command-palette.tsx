import '@mantine/spotlight/styles.css'
import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight'
import { IconArrowRight, IconFileSearch, IconLogout, IconMoon, IconSearch, IconTag } from '@tabler/icons-react'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useMe } from '../api/me.ts'
import { signOut } from '../api/session.ts'
import { notifyProblem } from '../components/notify.ts'
import { sectionsFor } from './navigation.ts'

const recordId = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const identifier = /^[A-Za-z0-9_.:-]{2,128}$/

/**
 * Opens by Ctrl-K: finds every page, a record by its id, records of a skill or a person, and the actions of the header.
 *
 * @param asked how often its button was pressed: it opens each time
 */
export default function CommandPalette({ asked }: { asked: number }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: each time it is asked for
  useEffect(() => spotlight.open(), [asked])
  const me = useMe()
  const router = useRouter()
  const [query, setQuery] = useState('')
  const { setColorScheme } = useMantineColorScheme()
  const dark = useComputedColorScheme('light') === 'dark'
  const go = (href: string) => () => void router.navigate({ href })

  const pages = sectionsFor(me).flatMap((section) =>
    (section.pages ?? [section]).map(
      (page): SpotlightActionData => ({
        id: page.to,
        label: page.label,
        ...(section.pages && { description: section.label }),
        keywords: page.keywords ?? '',
        leftSection: <section.icon size={18} />,
        onClick: go(page.to),
      }),
    ),
  )
  const commands: SpotlightActionData[] = [
    {
      id: 'scheme',
      label: dark ? 'Light colours' : 'Dark colours',
      keywords: 'theme dark light mode',
      leftSection: <IconMoon size={18} />,
      onClick: () => setColorScheme(dark ? 'light' : 'dark'),
    },
    {
      id: 'sign-out',
      label: 'Sign out',
      keywords: 'log out leave',
      leftSection: <IconLogout size={18} />,
      onClick: () => void signOut().catch((error: unknown) => notifyProblem(error, 'You are still signed in')),
    },
  ]
  return (
    <Spotlight
      shortcut={['mod + K', '/']}
      query={query}
      onQueryChange={setQuery}
      actions={[...pages, ...commands, ...found(query.trim())]}
      nothingFound="Nothing found. Pages are found by name, records by their id, skill or person."
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: 'A page, a record id, a skill or a person …',
        'aria-label': 'Search pages and records',
      }}
      attributes={{ content: { 'aria-label': 'Search' } }}
      highlightQuery
      scrollable
    />
  )

  /** Returns entries that the text itself names. The text is also the keyword, so that it is never filtered out. */
  function found(text: string): SpotlightActionData[] {
    if (!me.may('queryRecords')) return []
    const search = (label: string, filter: Record<string, string>, Icon = IconTag): SpotlightActionData => ({
      id: label,
      label,
      keywords: text,
      leftSection: <Icon size={18} />,
      rightSection: <IconArrowRight size={14} />,
      onClick: go(`/records?${new URLSearchParams(filter)}`),
    })
    if (recordId.test(text)) {
      return [
        {
          id: 'record',
          label: `Open record ${text}`,
          keywords: text,
          leftSection: <IconFileSearch size={18} />,
          onClick: go(`/records/${text.toLowerCase()}`),
        },
      ]
    }
    if (text.includes('@')) return [search(`Records of ${text}`, { user_id: `user:${text.replace(/^user:/, '')}` })]
    if (identifier.test(text)) return [search(`Records of the skill ${text}`, { skill_id: text })]
    return []
  }
}
