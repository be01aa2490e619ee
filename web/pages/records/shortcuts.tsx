import { ActionIcon, Group, Kbd, Stack, Switch, Table } from '@mantine/core'
import { useDisclosure, useLocalStorage } from '@mantine/hooks'
import { IconKeyboard } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import { recordsShortcuts, shortcutsKey } from '../../components/records-shortcuts.ts'
import { Dialog } from '../../ui/dialog.tsx'

const searchBox = 'input[type="search"]'
const firstRow = 'main table tbody tr[tabindex="0"]'

/** Returns true if a key belongs to the element: a field takes letters, and a dialog has keys of its own. */
function takesKeys(target: EventTarget | null): boolean {
  return (
    target instanceof Element && target.closest('input, textarea, select, [contenteditable], [role="dialog"]') !== null
  )
}

/** Moves the focus to the search box or into the table. Returns false if the key is not for either. */
function focusBy({ key, target }: KeyboardEvent): boolean {
  if (key === '/') return focusFirst(searchBox)
  const isInRow = target instanceof Element && target.matches('tr[data-index]')
  return ['j', 'k', 'o'].includes(key) && !isInRow && focusFirst(firstRow)
}

function focusFirst(selector: string): boolean {
  const element = document.querySelector<HTMLElement>(selector)
  element?.focus()
  return element !== null
}

/**
 * Handles single-key shortcuts of the page of records and shows their list. The user can switch them off, as WCAG 2.1.4
 * requires for keys without a modifier.
 */
export function Shortcuts() {
  const [opened, { open, close }] = useDisclosure()
  const [isOn, setOn] = useLocalStorage({ key: shortcutsKey, defaultValue: true, getInitialValueInEffect: false })
  const latest = useRef({ isOn, open })
  latest.current = { isOn, open }
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey || takesKeys(event.target) || !latest.current.isOn) return
      if (event.key === '?') latest.current.open()
      else if (!focusBy(event)) return
      event.preventDefault()
      event.stopPropagation()
    }
    // Before the frame of all pages, where `/` opens the command palette.
    document.addEventListener('keydown', onKeyDown, { capture: true })
    return () => document.removeEventListener('keydown', onKeyDown, { capture: true })
  }, [])
  return (
    <>
      <ActionIcon
        variant="default"
        size={36}
        visibleFrom="sm"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts (?)"
        onClick={open}
      >
        <IconKeyboard size={18} aria-hidden />
      </ActionIcon>
      <Dialog opened={opened} onClose={close} title="Keyboard shortcuts">
        <Stack>
          <Table aria-label="Keyboard shortcuts">
            <Table.Tbody>
              {recordsShortcuts.map(({ key, does }) => (
                <Table.Tr key={key}>
                  <Table.Th scope="row" w="4rem">
                    <Kbd>{key}</Kbd>
                  </Table.Th>
                  <Table.Td>{does}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          <Group>
            <Switch
              label="Use keyboard shortcuts"
              checked={isOn}
              onChange={(event) => setOn(event.currentTarget.checked)}
            />
          </Group>
        </Stack>
      </Dialog>
    </>
  )
}
