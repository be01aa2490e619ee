import { UnstyledButton } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import styles from './layout.module.css'

const CommandPalette = lazy(() => import('./command-palette.tsx'))

/** Opens the command palette, whose script loads on first use; from then on the palette itself listens to Ctrl-K. */
export function PaletteButton() {
  const [asked, setAsked] = useState(0)
  const open = () => setAsked((times) => times + 1)
  useHotkeys(
    asked === 0
      ? [
          ['mod+K', open],
          ['/', open],
        ]
      : [],
  )
  return (
    <>
      <UnstyledButton className={styles.search} onClick={open} aria-keyshortcuts="Control+K">
        <IconSearch size={16} aria-hidden />
        <span className={styles.searchText}>Search</span>
        <kbd className={styles.keys} aria-hidden>
          Ctrl K
        </kbd>
      </UnstyledButton>
      {asked > 0 && (
        <Suspense>
          <CommandPalette asked={asked} />
        </Suspense>
      )}
    </>
  )
}
