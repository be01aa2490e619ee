import '@mantine/spotlight/styles.css'
import { Kbd, Text, TextInput, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { Spotlight, spotlight } from '@mantine/spotlight'
import { IconLogout, IconMoon, IconSearch } from '@tabler/icons-react'
import { useRouter } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react'
import { useMe } from '../api/me.ts'
import { signOut } from '../api/session.ts'
import { SnippetText } from '../components/snippet-text.tsx'
import { toastProblem } from '../components/toast.ts'
import { maySearch, useFoundRecords } from '../components/use-found-records.ts'
import { useSuggest } from '../components/use-suggest.ts'
import styles from './command-palette.module.css'
import {
  actionEntries,
  type Entry,
  type EntryGroup,
  matching,
  namedEntries,
  pageEntries,
  recentEntries,
  resultEntries,
  shortcutEntries,
  suggestionEntries,
} from './palette-entries.tsx'

/**
 * Opens by Ctrl-K: finds pages, actions, names that the Hub suggests, and records by their words or id.
 *
 * @param asked how often its button was pressed: it opens each time
 */
export default function CommandPalette({ asked }: { asked: number }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: each time it is asked for
  useEffect(() => spotlight.open(), [asked])
  const [query, setQuery] = useState('')
  return (
    <Spotlight.Root
      shortcut={['mod + K', '/']}
      query={query}
      onQueryChange={setQuery}
      // A blurred page is drawn again with each blink of the caret, which takes a third of a core without a graphics card.
      overlayProps={{ blur: 0 }}
      attributes={{ content: { 'aria-label': 'Search' } }}
    >
      <Palette query={query} onQuery={setQuery} />
    </Spotlight.Root>
  )
}

/** A combobox (WAI-ARIA): the focus stays in the field, which names the selected option. */
function Palette({ query, onQuery }: { query: string; onQuery(text: string): void }) {
  const router = useRouter()
  const id = useId()
  const { groups, isLoading } = useEntries(query.trim())
  const shown = groups.filter(({ entries }) => entries.length > 0)
  const entries = shown.flatMap((group) => group.entries)
  const [chosenId, setChosenId] = useState<string>()
  const at = Math.max(
    0,
    entries.findIndex((entry) => entry.id === chosenId),
  )
  const selected = entries[at]
  const list = useRef<HTMLDivElement>(null)
  const selectedId = selected?.id
  useEffect(() => {
    if (selectedId !== undefined)
      list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [selectedId])
  const optionId = (entry: Entry) => `${id}-${entries.indexOf(entry)}`

  const run = (entry: Entry) => {
    spotlight.close()
    if (entry.href) void router.navigate({ href: entry.href })
    entry.run?.()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const last = entries.length - 1
    const to = { ArrowDown: at === last ? 0 : at + 1, ArrowUp: at === 0 ? last : at - 1 }[event.key]
    if (to !== undefined) setChosenId(entries[to]?.id)
    else if (event.key === 'Enter' && selected) run(selected)
    else return
    event.preventDefault()
  }
  return (
    <>
      <TextInput
        size="lg"
        variant="unstyled"
        px="sm"
        role="combobox"
        data-autofocus
        aria-label="Search pages and records"
        aria-expanded={entries.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={selected && optionId(selected)}
        leftSection={<IconSearch size={18} aria-hidden />}
        placeholder="Pages, actions, people, skills, records …"
        value={query}
        maxLength={500}
        spellCheck={false}
        onChange={(event) => {
          setChosenId(undefined)
          onQuery(event.currentTarget.value)
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} id={`${id}-list`} role="listbox" aria-label="Results" className={styles.list} hidden={!selected}>
        {shown.map(({ label, entries: ofGroup }, group) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is no group of options
          <div key={label} role="group" aria-labelledby={`${id}-group-${group}`}>
            <div id={`${id}-group-${group}`} className={styles.group} role="presentation">
              {label}
            </div>
            {ofGroup.map((entry) => (
              <Option
                key={entry.id}
                id={optionId(entry)}
                entry={entry}
                isSelected={entry === selected}
                onPoint={() => setChosenId(entry.id)}
                onChoose={() => run(entry)}
              />
            ))}
          </div>
        ))}
      </div>
      <div className={styles.status} role="status">
        {isLoading
          ? 'Searching…'
          : entries.length === 0
            ? 'Nothing found. Try another word, an id, a skill or a person.'
            : `${entries.length} ${entries.length === 1 ? 'result' : 'results'}`}
      </div>
    </>
  )
}

interface OptionProps {
  id: string
  entry: Entry
  isSelected: boolean
  onPoint(): void
  onChoose(): void
}

function Option({
  id,
  entry: { label, description, snippet, shortcut, Icon },
  isSelected,
  onPoint,
  onChoose,
}: OptionProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys
    <div
      id={id}
      role="option"
      aria-selected={isSelected}
      aria-keyshortcuts={shortcut}
      className={styles.entry}
      onMouseMove={isSelected ? undefined : onPoint}
      // Otherwise the field would lose the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      <Icon size={18} stroke={1.6} />
      <div className={styles.words}>
        <Text size="sm" truncate>
          {label}
        </Text>
        {(snippet ?? description) && (
          <Text size="xs" c="dimmed" truncate>
            {snippet === undefined ? description : <SnippetText snippet={snippet} />}
          </Text>
        )}
      </div>
      {shortcut && (
        <Kbd ml="auto" aria-hidden>
          {shortcut}
        </Kbd>
      )}
    </div>
  )
}

const recentMax = 5

/** Returns the groups for a typed text. What is known at once comes first, so that the selection does not move. */
function useEntries(typed: string): { groups: EntryGroup[]; isLoading: boolean } {
  const me = useMe()
  const router = useRouter()
  const own = useOwnActions()
  const mayFind = maySearch(me)
  const suggestions = useSuggest(typed)
  const { found, isLoading } = useFoundRecords(typed, mayFind)
  const pages = useMemo(() => pageEntries(me), [me])
  const here = router.state.location.pathname
  const actions = [...actionEntries(me), ...own, ...shortcutEntries(here)]
  if (typed === '') {
    const recent = recentEntries(me, here).slice(0, recentMax)
    return {
      isLoading: false,
      groups: [
        { label: 'Recent pages', entries: recent },
        { label: 'Actions', entries: actions },
        { label: 'Pages', entries: pages },
      ],
    }
  }
  const named = namedEntries(me, typed, mayFind)
  // The search has these records with their passages.
  const isFound = new Set(found.map(({ record }) => record.record_id))
  const suggested = suggestionEntries(
    me,
    suggestions.filter(({ id }) => !isFound.has(id)),
  )
  return {
    isLoading,
    groups: [
      { label: 'Pages', entries: matching(pages, typed) },
      { label: 'Actions', entries: matching(actions, typed) },
      { label: 'Records', entries: named },
      { label: 'Suggestions', entries: suggested },
      { label: 'Search results', entries: resultEntries(found) },
    ],
  }
}

function useOwnActions(): Entry[] {
  const { setColorScheme } = useMantineColorScheme()
  const dark = useComputedColorScheme('light') === 'dark'
  return [
    {
      id: 'scheme',
      label: dark ? 'Light colours' : 'Dark colours',
      keywords: 'theme dark light mode',
      Icon: IconMoon,
      run: () => setColorScheme(dark ? 'light' : 'dark'),
    },
    {
      id: 'sign-out',
      label: 'Sign out',
      keywords: 'log out leave',
      Icon: IconLogout,
      run: () => void signOut().catch((error: unknown) => toastProblem(error, 'You are still signed in')),
    },
  ]
}
