import {
  IconBell,
  IconCpu,
  IconDownload,
  IconFileSearch,
  IconGavel,
  IconHistory,
  IconKeyboard,
  IconPuzzle,
  IconRobot,
  IconSearch,
  IconTag,
  IconUser,
  IconUserPlus,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import type { OperationId } from '../../contract/operations.ts'
import type { Me } from '../api/me.ts'
import { recentPages } from '../api/recent-pages.ts'
import { looksOf, titleOfRecord } from '../components/record-type.tsx'
import { areShortcutsOn, recordsShortcuts } from '../components/records-shortcuts.ts'
import type { Suggestion } from '../components/suggestion.ts'
import { usageAddress } from '../components/usage-address.ts'
import type { FoundRecord } from '../components/use-found-records.ts'
import { destinationAt, mayOpen, sectionsFor } from './navigation.ts'

/** A choice of the command palette. */
export interface Entry {
  id: string
  label: string
  description?: string | undefined
  /** A passage with marks around matches, instead of the description. */
  snippet?: string
  Icon: ComponentType<{ size?: number; stroke?: number }>
  /** The page to open … */
  href?: string
  /** … or the action to run. */
  run?(): void
  /** Further words that find it. */
  keywords?: string
  /** The key that does the same without the palette. */
  shortcut?: string
}

export interface EntryGroup {
  label: string
  entries: readonly Entry[]
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Returns the entries whose texts have all typed words. */
export function matching(entries: readonly Entry[], typed: string): Entry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  return entries.filter(({ label, description = '', keywords = '' }) => {
    const text = `${label} ${description} ${keywords}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Returns every page that the user may open. */
export function pageEntries(me: Me): Entry[] {
  return sectionsFor(me).flatMap((section) =>
    (section.pages ?? [section]).map((page) => ({
      id: `page ${page.to}`,
      label: page.label,
      description: section.pages && section.label,
      keywords: page.keywords ?? '',
      Icon: section.icon,
      href: page.to,
    })),
  )
}

const actions: readonly (Entry & { needs: OperationId })[] = [
  {
    ...{ id: 'invite', label: 'Invite user', keywords: 'add person people role', Icon: IconUserPlus },
    ...{ href: '/settings/people?add=1', needs: 'createUser' },
  },
  {
    ...{ id: 'export', label: 'New export', keywords: 'create download csv parquet jsonl', Icon: IconDownload },
    ...{ href: '/exports?create=1', needs: 'createExport' },
  },
  {
    ...{ id: 'account', label: 'Add service account', keywords: 'new client secret token', Icon: IconRobot },
    ...{ href: '/settings/service-accounts?add=1', needs: 'createServiceAccount' },
  },
  {
    ...{ id: 'webhook', label: 'Add webhook endpoint', keywords: 'new notification', Icon: IconBell },
    ...{ href: '/webhooks?add=1', needs: 'createWebhook' },
  },
  {
    ...{ id: 'hold', label: 'Place legal hold', keywords: 'new litigation', Icon: IconGavel },
    ...{ href: '/governance/holds?place=1', needs: 'placeHold' },
  },
]

/** Returns the actions that the user's role may do. */
export function actionEntries(me: Me): Entry[] {
  return actions.filter(({ needs }) => me.may(needs)).map(({ needs: _, ...entry }) => entry)
}

/** Returns what the keys of a page do, as actions that press the key where the focus was before the palette opened. */
export function shortcutEntries(path: string): Entry[] {
  if (path !== '/records' || !areShortcutsOn()) return []
  return recordsShortcuts.map(({ key, does }) => ({
    ...{ id: `key ${key}`, label: does, shortcut: key, keywords: 'keyboard shortcut', Icon: IconKeyboard },
    run: () => pressKey(key),
  }))
}

/** Presses a key once the palette has closed and returned the focus. */
function pressKey(key: string, attempts = 40): void {
  const focused = document.activeElement ?? document.body
  if (focused.closest('[role="dialog"]') && attempts > 0) setTimeout(() => pressKey(key, attempts - 1), 50)
  else focused.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
}

/** Returns the pages that the user opened last and may still open, without the current one. */
export function recentEntries(me: Me, current: string): Entry[] {
  return recentPages(`${me.tenant} ${me.subject}`).flatMap((path) => {
    const page = destinationAt(path)
    if (path === current || !page || !mayOpen(page, me)) return []
    const rest = path.slice(page.to.length).replace(/^\//, '')
    const label = rest ? `${page.label}: ${decodeURIComponent(rest)}` : page.label
    return [{ id: `recent ${path}`, label, Icon: IconHistory, href: path }]
  })
}

const looksOfSuggestions = {
  skill: { Icon: IconPuzzle, of: 'the skill' },
  person: { Icon: IconUser, of: 'the person' },
  archetype: { Icon: IconTag, of: 'the archetype' },
  model: { Icon: IconCpu, of: 'the model' },
  record: { Icon: IconFileSearch, of: '' },
} as const

/** Returns the Hub's suggestions as links to what they name. */
export function suggestionEntries(me: Me, suggestions: readonly Suggestion[]): Entry[] {
  return suggestions.flatMap((suggestion) => {
    const { kind, id, label } = suggestion
    const { Icon, of } = looksOfSuggestions[kind]
    const entry = { id: `${kind} ${id}`, label, Icon }
    if (kind === 'record') return [{ ...entry, description: 'Record', href: `/records/${id}` }]
    const href = usageAddress(kind === 'person' ? 'user' : kind, id)
    return href && me.may('summarizeTelemetry') ? [{ ...entry, description: `Usage of ${of} ${id}`, href }] : []
  })
}

/** Returns links to the records that the search found. */
export function resultEntries(found: readonly FoundRecord[]): Entry[] {
  return found.map(({ record, snippet }) => ({
    id: `result ${record.record_id}`,
    label: titleOfRecord(record),
    snippet,
    Icon: looksOf(record.record_type).Icon,
    href: `/records/${record.record_id}`,
  }))
}

/** Returns the entries that the typed text itself names: a record by its id, the records of a person, a search. */
export function namedEntries(me: Me, typed: string, maySearch: boolean): Entry[] {
  if (typed === '' || !me.may('queryRecords')) return []
  if (uuid.test(typed)) {
    return [
      { id: 'by id', label: `Open record ${typed}`, Icon: IconFileSearch, href: `/records/${typed.toLowerCase()}` },
    ]
  }
  const person: Entry = {
    id: 'by person',
    label: `Records of ${typed}`,
    Icon: IconUser,
    href: `/records?${new URLSearchParams({ user_id: `user:${typed.replace(/^user:/, '')}` })}`,
  }
  const search: Entry = {
    id: 'search',
    label: `Search records for “${typed}”`,
    Icon: IconSearch,
    href: `/records?${new URLSearchParams({ q: typed })}`,
  }
  return [...(/^\S+@\S+$/.test(typed) ? [person] : []), ...(maySearch ? [search] : [])]
}
