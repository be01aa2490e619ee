import { ActionIcon, Menu, Tooltip } from '@mantine/core'
import { IconDownload, IconFileTypeCsv, IconPhoto } from '@tabler/icons-react'
import { notInImages } from './save-png.ts'
import { useSaving } from './use-saving.ts'

interface ExportMenuProps {
  /** The name of the export: "Latency". */
  label: string
  csv(): Promise<void>
  png(): Promise<void>
}

/** Saves a chart as a file: its values, or its image. */
export function ExportMenu({ label, csv, png }: ExportMenuProps) {
  const { busy, failed, run } = useSaving()
  const name = failed ? `Export ${label}: it did not work, try again` : `Export ${label}`
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Tooltip label={failed ? 'The file could not be made' : 'Export'}>
          <ActionIcon
            variant="default"
            color={failed ? 'red' : undefined}
            loading={busy}
            aria-label={name}
            {...notInImages}
          >
            <IconDownload size={16} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconFileTypeCsv size={16} />} onClick={run(csv)}>
          Figures as CSV
        </Menu.Item>
        <Menu.Item leftSection={<IconPhoto size={16} />} onClick={run(png)}>
          Image as PNG
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
