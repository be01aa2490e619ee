import { Box, Group, Paper, SegmentedControl, Title } from '@mantine/core'
import { type ReactNode, useId, useRef, useState } from 'react'
import { ExportMenu } from './export-menu.tsx'
import type { FigureColumn } from './figures.ts'
import { FiguresTable } from './figures-table.tsx'
import { saveCsv } from './save-csv.ts'
import { fileNameOf } from './save-file.ts'
import { notInImages, savePng } from './save-png.ts'

interface ChartFrameProps<Row extends object> {
  title: string
  /** What the chart says in one sentence, for those who do not see it. */
  summary: string
  /** Its figures: shown as a table instead of the chart, and saved as CSV. The first column names the row. */
  columns: readonly FigureColumn<Row>[]
  rows: readonly Row[]
  rowId(row: Row): string
  /** Of the chart, and at most of the table, in pixels: nothing moves when one takes the place of the other. */
  height?: number
  /** Further buttons. */
  actions?: ReactNode
  children: ReactNode
}

/** A chart with a readable table beside it: the reader chooses which of the two is shown, and saves it as a file. */
export function ChartFrame<Row extends object>({
  title,
  summary,
  columns,
  rows,
  rowId,
  height = 260,
  actions,
  children,
}: ChartFrameProps<Row>) {
  const [form, setForm] = useState('chart')
  const id = useId()
  const frame = useRef<HTMLDivElement>(null)
  const name = fileNameOf(title)
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={id} ref={frame}>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h3" id={id}>
          {title}
        </Title>
        <Group gap="xs" {...notInImages}>
          {actions}
          <ExportMenu
            label={title}
            csv={() => saveCsv(name, columns, rows)}
            png={async () => {
              if (frame.current) await savePng(name, frame.current)
            }}
          />
          <SegmentedControl
            size="xs"
            aria-label={`${title}: shown as`}
            value={form}
            onChange={setForm}
            data={[
              { value: 'chart', label: 'Chart' },
              { value: 'table', label: 'Table' },
            ]}
          />
        </Group>
      </Group>
      <Box mih={height}>
        {form === 'table' ? (
          <FiguresTable label={title} columns={columns} rows={rows} rowId={rowId} maxHeight={`${height}px`} />
        ) : (
          <>
            <p className="visually-hidden">{`${summary} The button Table shows the figures.`}</p>
            {children}
          </>
        )}
      </Box>
    </Paper>
  )
}
