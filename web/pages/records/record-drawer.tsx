import { ActionIcon, Group, Text, Tooltip } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconExternalLink } from '@tabler/icons-react'
import { type KeyboardEvent, useEffect, useRef } from 'react'
import type { HubRecord } from '../../api/hub-record.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { titleOfRecord } from '../../components/record-type.tsx'
import { SidePanel } from '../../ui/dialog.tsx'
import { RecordDetails } from '../record/record-details.tsx'
import { useRecord } from '../record/use-record.ts'

interface RecordDrawerProps {
  openId: string | undefined
  /** The rows of the table, in their order. */
  rows: readonly HubRecord[]
  onOpen(recordId: string | undefined): void
}

/** Elements in which arrow keys have their own function. */
const ownKeys = 'input, textarea, [role="menu"], [role="dialog"] [role="dialog"], pre, [contenteditable]'

/** Shows the details of a row beside the table. The arrow keys select the next or previous row. */
export function RecordDrawer({ openId, rows, onOpen }: RecordDrawerProps) {
  const at = rows.findIndex(({ record_id }) => record_id === openId)
  const row = rows[at]
  const lastAt = useRef(at)
  useEffect(() => {
    if (openId !== undefined) lastAt.current = at
  })
  const previous = at > 0 ? rows[at - 1] : undefined
  const next = at >= 0 ? rows[at + 1] : undefined

  function onKeyDown(event: KeyboardEvent) {
    if ((event.target as Element).closest(ownKeys) || event.ctrlKey || event.metaKey || event.altKey) return
    const to = { ArrowDown: next, ArrowRight: next, ArrowUp: previous, ArrowLeft: previous }[event.key]
    if (!to) return
    event.preventDefault()
    onOpen(to.record_id)
  }

  return (
    <SidePanel
      opened={openId !== undefined}
      onClose={() => onOpen(undefined)}
      size="xl"
      onKeyDown={onKeyDown}
      onExitTransitionEnd={() => focusRow(lastAt.current)}
      closeButtonProps={{ 'aria-label': 'Close details' }}
      kind="Record"
      title={openId && <Title recordId={openId} row={row} />}
    >
      <Group gap="xs" mb="md">
        <Step label="Previous record" row={previous} Icon={IconArrowUp} onOpen={onOpen} />
        <Step label="Next record" row={next} Icon={IconArrowDown} onOpen={onOpen} autofocus />
        {openId && (
          <LinkButton
            size="xs"
            to="/records/$recordId"
            params={{ recordId: openId }}
            leftSection={<IconExternalLink size={15} aria-hidden />}
          >
            Open full page
          </LinkButton>
        )}
        {at >= 0 && (
          <Text size="xs" c="dimmed" role="status">
            {`Row ${(at + 1).toLocaleString()} of ${rows.length.toLocaleString()} loaded`}
          </Text>
        )}
      </Group>
      {openId && <RecordDetails key={openId} recordId={openId} />}
    </SidePanel>
  )
}

/** A drawer that the address opened has no opener to return the focus to. */
function focusRow(index: number): void {
  const focused = document.activeElement
  if (focused !== document.body && !focused?.closest('[role="dialog"]')) return
  const rows = document.querySelector('main [role="group"] tbody')
  const row =
    rows?.querySelector<HTMLElement>(`tr[data-index="${index}"]`) ??
    rows?.querySelector<HTMLElement>('tr[tabindex="0"]')
  row?.focus()
}

/** Shows the title of the record that is verified below, and until it loads that of the list. */
function Title({ recordId, row }: { recordId: string; row: HubRecord | undefined }) {
  const record = useRecord(recordId).data?.record ?? row
  return record ? titleOfRecord(record) : 'Record'
}

interface StepProps {
  label: string
  row: HubRecord | undefined
  Icon: typeof IconArrowUp
  autofocus?: boolean
  onOpen(recordId: string): void
}

function Step({ label, row, Icon, autofocus, onOpen }: StepProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="default"
        aria-label={label}
        // It keeps the focus at the last row; a disabled button would lose it.
        aria-disabled={row === undefined}
        data-disabled={row === undefined || undefined}
        data-autofocus={autofocus}
        onClick={() => row && onOpen(row.record_id)}
      >
        <Icon size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}
