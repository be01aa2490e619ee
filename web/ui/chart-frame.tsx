import { Box, Group, Paper, SegmentedControl, Text, Title } from '@mantine/core'
import { type ReactNode, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import styles from './chart-frame.module.css'
import { ExportMenu } from './export-menu.tsx'
import { FiguresTable } from './figures-table.tsx'
import type { MetricColumn } from './metric-columns.ts'
import { saveCsv } from './save-csv.ts'
import { fileNameOf } from './save-file.ts'
import { notInImages, savePng } from './save-png.ts'

interface ChartFrameProps<Row extends object> {
  title: string
  /**
   * The scope of the values, such as time and filters. The page shows it elsewhere; an image of the chart includes it.
   */
  about: string
  /** The suffix of the title in file names. */
  fileSuffix: string
  /** The message of the chart in one sentence, for users who cannot see it. */
  summary: string
  /** The values: shown as a table instead of the chart, and saved as CSV. The first column names the row. */
  columns: readonly MetricColumn<Row>[]
  rows: readonly Row[]
  rowId(row: Row): string
  /** The height of the chart, and the maximum of the table, in pixels, so that nothing moves when they switch. */
  height?: number
  /** Further buttons. */
  actions?: ReactNode
  children: ReactNode
}

/** Shows a chart or its table, as the user selects, and saves it as a file. */
export function ChartFrame<Row extends object>({
  title,
  about,
  fileSuffix,
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
  const [isPictured, setPictured] = useState(false)
  const name = `${fileNameOf(title)}-${fileSuffix}`

  async function saveImage() {
    if (!frame.current) return
    flushSync(() => setPictured(true))
    try {
      await savePng(name, frame.current)
    } finally {
      setPictured(false)
    }
  }

  return (
    <Paper withBorder p="md" component="section" aria-labelledby={id} ref={frame}>
      <Group justify="space-between" mb="sm" gap="xs" className={styles.head}>
        <Title order={2} size="h3" id={id}>
          {title}
        </Title>
        <Group gap="xs" {...notInImages}>
          {actions}
          <ExportMenu label={title} csv={() => saveCsv(name, columns, rows)} png={saveImage} />
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
      {isPictured && (
        <Text size="xs" c="dimmed" mb="sm">
          <bdi>{about}</bdi>
        </Text>
      )}
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
