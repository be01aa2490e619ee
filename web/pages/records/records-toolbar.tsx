import { ActionIcon, Button, Group, Menu, useMatches } from '@mantine/core'
import { IconColumns3, IconDotsVertical, IconDownload, IconRefresh, IconShieldCheck } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMe } from '../../api/me.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ColumnChoice, ColumnsMenu } from './columns-menu.tsx'

interface RecordsToolbarProps {
  columns: Parameters<typeof ColumnsMenu>[0]
  /** Not available without rows. */
  verification: { available: boolean; running: boolean; start(): void }
  refresh: { running: boolean; start(): void }
  /** The parameters of an export of the same records; undefined if a filter is set that their form does not have. */
  exported: Record<string, string> | undefined
}

/** Shows the actions on the found records: buttons, or one menu on a phone. */
export function RecordsToolbar(props: RecordsToolbarProps) {
  const isPhone = useMatches({ base: true, sm: false }, { getInitialValueInEffect: false })
  return isPhone ? <ToolMenu {...props} /> : <ToolButtons {...props} />
}

function ToolButtons({ columns, verification, refresh, exported }: RecordsToolbarProps) {
  const { may } = useMe()
  return (
    <Group gap="xs">
      <Button
        variant="default"
        leftSection={<IconShieldCheck size={16} aria-hidden />}
        disabled={!verification.available}
        loading={verification.running}
        onClick={verification.start}
      >
        Verify all on this page
      </Button>
      {may('createExport') && exported && (
        <LinkButton to="/exports" search={exported as never} leftSection={<IconDownload size={16} aria-hidden />}>
          Export
        </LinkButton>
      )}
      <ColumnsMenu {...columns} />
      <Button
        variant="default"
        leftSection={<IconRefresh size={16} aria-hidden />}
        loading={refresh.running}
        onClick={refresh.start}
      >
        Refresh
      </Button>
    </Group>
  )
}

function ToolMenu({ columns, verification, refresh, exported }: RecordsToolbarProps) {
  const { may } = useMe()
  const navigate = useNavigate()
  const [choosing, setChoosing] = useState(false)
  return (
    <>
      <Menu position="bottom-end" withinPortal={false} width={240}>
        <Menu.Target>
          <ActionIcon
            variant="default"
            size={36}
            aria-label="Verify, export and more"
            loading={verification.running || refresh.running}
          >
            <IconDotsVertical size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconShieldCheck size={16} aria-hidden />}
            disabled={!verification.available}
            onClick={verification.start}
          >
            Verify all on this page
          </Menu.Item>
          {may('createExport') && exported && (
            <Menu.Item
              leftSection={<IconDownload size={16} aria-hidden />}
              onClick={() => void navigate({ to: '/exports', search: exported as never })}
            >
              Export
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconColumns3 size={16} aria-hidden />} onClick={() => setChoosing(true)}>
            Columns …
          </Menu.Item>
          <Menu.Item leftSection={<IconRefresh size={16} aria-hidden />} onClick={refresh.start}>
            Refresh
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Dialog opened={choosing} onClose={() => setChoosing(false)} title="Columns of the table">
        <ColumnChoice {...columns} />
      </Dialog>
    </>
  )
}
