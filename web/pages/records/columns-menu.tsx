import { Button, Checkbox, Popover, ScrollArea, Stack, Switch, useMatches } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconColumns3 } from '@tabler/icons-react'
import { columnsOfVerification, recordColumns, usualColumns } from './columns.tsx'

const choices = recordColumns.flatMap((column) => {
  const { header } = column
  const id = column.id ?? ('accessorKey' in column ? String(column.accessorKey) : '')
  return id === 'title' || (columnsOfVerification as readonly string[]).includes(id)
    ? []
    : [{ id, name: String(header) }]
})

/** Returns the user's columns, stored in this browser: those of telemetry events apart from those of other records. */
export function useColumns(kind: keyof typeof usualColumns) {
  const [shown, setShown] = useLocalStorage<readonly string[]>({
    key: `hub-columns:${kind}`,
    defaultValue: usualColumns[kind],
    getInitialValueInEffect: false,
  })
  const hidden = choices.filter(({ id }) => !shown.includes(id)).map(({ id }) => id)
  return { shown, setShown, hidden, usual: usualColumns[kind] }
}

const compactHeight = 32

/** Returns the height of rows, stored in this browser. Two lines, as on a phone, need the usual height. */
export function useDensity() {
  const [isCompact, setCompact] = useLocalStorage({
    key: 'hub-compact:records',
    defaultValue: false,
    getInitialValueInEffect: false,
  })
  const hasTwoLines = useMatches({ base: true, sm: false }, { getInitialValueInEffect: false })
  return { isCompact, setCompact, rowHeight: isCompact && !hasTwoLines ? compactHeight : undefined }
}

interface ColumnsMenuProps {
  shown: readonly string[]
  usual: readonly string[]
  onChange(shown: readonly string[]): void
  isCompact: boolean
  onCompact(isCompact: boolean): void
}

/** Selects the columns and the density of the table. Narrow screens still omit some. */
export function ColumnsMenu(props: ColumnsMenuProps) {
  return (
    <Popover position="bottom-end" width={240} trapFocus returnFocus shadow="md">
      <Popover.Target>
        <Button variant="default" leftSection={<IconColumns3 size={16} aria-hidden />}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns of the table">
        <ScrollArea.Autosize mah="min(24rem, 60dvh)">
          <ColumnChoice {...props} />
        </ScrollArea.Autosize>
      </Popover.Dropdown>
    </Popover>
  )
}

/** Lists the columns to select from. */
export function ColumnChoice({ shown, usual, onChange, isCompact, onCompact }: ColumnsMenuProps) {
  return (
    <Stack gap="xs" align="flex-start">
      <Switch
        size="sm"
        label="Compact rows"
        checked={isCompact}
        onChange={({ currentTarget }) => onCompact(currentTarget.checked)}
      />
      {choices.map(({ id, name }) => (
        <Checkbox
          key={id}
          size="sm"
          label={name}
          checked={shown.includes(id)}
          onChange={({ currentTarget }) =>
            onChange(currentTarget.checked ? [...shown, id] : shown.filter((each) => each !== id))
          }
        />
      ))}
      <Button size="compact-sm" variant="subtle" onClick={() => onChange(usual)}>
        Usual columns
      </Button>
    </Stack>
  )
}
