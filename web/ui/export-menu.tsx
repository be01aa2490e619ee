import { ActionIcon, Menu, Tooltip } from '@mantine/core'
import { IconDownload, IconFileTypeCsv, IconPhoto } from '@tabler/icons-react'
import { useState } from 'react'
import { notInImages } from './save-png.ts'

interface ExportMenuProps {
  /** What is exported: "Latency". */
  label: string
  csv(): Promise<void>
  /** Left out where there is no image of it. */
  png?(): Promise<void>
}

/** What is shown, as a file. */
export function ExportMenu({ label, csv, png }: ExportMenuProps) {
  const [busy, setBusy] = useState(false)
  const [failed, setFailed] = useState(false)
  const run = (save: () => Promise<void>) => async () => {
    setBusy(true)
    setFailed(false)
    try {
      await save()
    } catch {
      setFailed(true)
    } finally {
      setBusy(false)
    }
  }
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
        {png && (
          <Menu.Item leftSection={<IconPhoto size={16} />} onClick={run(png)}>
            Image as PNG
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
