import { ActionIcon, Menu, Tooltip } from '@mantine/core'
import { IconDownload, IconFileTypeCsv, IconPhoto } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { notInImages } from './save-png.ts'

interface ExportMenuProps {
  /** The name of the export: "Latency". */
  label: string
  csv(): Promise<void>
  png(): Promise<void>
}

/** Saves a chart as a file: its values, or its image. */
export function ExportMenu({ label, csv, png }: ExportMenuProps) {
  const saving = useMutation({ mutationFn: (save: () => Promise<void>) => save() })
  const failed = saving.isError
  const name = failed ? `Export ${label}: it did not work, try again` : `Export ${label}`
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Tooltip label={failed ? 'The file could not be made' : 'Export'}>
          <ActionIcon
            variant="default"
            color={failed ? 'red' : undefined}
            loading={saving.isPending}
            aria-label={name}
            {...notInImages}
          >
            <IconDownload size={16} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconFileTypeCsv size={16} />} onClick={() => saving.mutate(csv)}>
          Figures as CSV
        </Menu.Item>
        <Menu.Item leftSection={<IconPhoto size={16} />} onClick={() => saving.mutate(png)}>
          Image as PNG
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
