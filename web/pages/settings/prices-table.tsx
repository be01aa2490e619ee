import { ActionIcon, Group, Text } from '@mantine/core'
import { IconPencil, IconTrash } from '@tabler/icons-react'
import { useMemo } from 'react'
import { DataTable } from '../../ui/data-table.tsx'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { UsdText } from '../../ui/usd-text.tsx'
import type { Price } from './price-form.tsx'
import { priceId } from './save-prices.ts'

const column = columnsOf<Price>()
const columns = [
  column.accessor('llm_model', {
    header: 'Model',
    size: 150,
    meta: { grow: true },
    cell: ({ row: { original } }) => (
      <>
        <Text size="sm" truncate title={original.llm_model}>
          {original.llm_model}
        </Text>
        <Text size="xs" c="dimmed" truncate hiddenFrom="sm">
          from <TimeText iso={original.effective_from} form="date" />
        </Text>
      </>
    ),
  }),
  column.accessor((row) => row.llm_platform, {
    id: 'platform',
    header: 'Platform',
    size: 150,
    meta: { from: 'md' },
    cell: ({ getValue }) => getValue() ?? 'Every',
  }),
  column.accessor('input_usd_per_mtok', {
    header: 'Input per 1M',
    size: 120,
    meta: { align: 'right' },
    cell: ({ row: { original } }) => (
      <>
        <UsdText value={original.input_usd_per_mtok} />
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          output <UsdText value={original.output_usd_per_mtok} />
        </Text>
      </>
    ),
  }),
  column.accessor('output_usd_per_mtok', {
    header: 'Output per 1M',
    size: 130,
    meta: { align: 'right', from: 'sm' },
    cell: ({ getValue }) => <UsdText value={getValue()} />,
  }),
  column.accessor('effective_from', {
    header: 'From',
    size: 165,
    meta: { from: 'md' },
    cell: ({ getValue }) => <TimeText iso={getValue()} form="minute" />,
  }),
  column.accessor((row) => row.effective_until, {
    id: 'until',
    header: 'Until',
    size: 165,
    meta: { from: 'lg' },
    cell: ({ getValue }) => {
      const iso = getValue()
      return iso ? <TimeText iso={iso} form="minute" /> : 'No end'
    },
  }),
]

interface PricesTableProps {
  prices: readonly Price[]
  mayChange: boolean
  /** Must be the same function in each render. */
  onAsk(asked: { action: 'change' | 'remove'; price: Price }): void
}

/** Shows the tenant's price overrides. */
export function PricesTable({ prices, mayChange, onAsk }: PricesTableProps) {
  const all = useMemo(
    () =>
      column.columns([
        ...columns,
        ...(mayChange
          ? [
              column.display({
                id: 'actions',
                header: () => <span className="visually-hidden">Actions</span>,
                size: 90,
                cell: ({ row: { original } }) => (
                  <Group gap={4} wrap="nowrap">
                    <ActionIcon
                      variant="subtle"
                      color="gray"
                      aria-label={`Change the price of ${original.llm_model}`}
                      onClick={() => onAsk({ action: 'change', price: original })}
                    >
                      <IconPencil size={16} />
                    </ActionIcon>
                    <ActionIcon
                      variant="subtle"
                      color="red"
                      aria-label={`Remove the price of ${original.llm_model}`}
                      onClick={() => onAsk({ action: 'remove', price: original })}
                    >
                      <IconTrash size={16} />
                    </ActionIcon>
                  </Group>
                ),
              }),
            ]
          : []),
      ]),
    [mayChange, onAsk],
  )
  return <DataTable label="Own prices" rows={prices} columns={all} rowId={priceId} />
}
