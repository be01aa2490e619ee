import { Button, Menu } from '@mantine/core'
import { IconBolt } from '@tabler/icons-react'
import type { RecordType } from '../../../contract/literals.ts'
import { canSee } from '../../../contract/record-visibility.ts'
import { useMe } from '../../api/me.ts'
import type { RecordsSearch } from './records-search.ts'

interface Preset {
  label: string
  search: RecordsSearch
  sees?: RecordType
}

const presets: readonly Preset[] = [
  { label: 'Decisions of this week', search: { record_type: 'decision', within: 'week' }, sees: 'decision' },
  { label: 'Outputs of the last 24 hours', search: { record_type: 'output', within: '24h' }, sees: 'output' },
  {
    label: 'Costliest invocations of 7 days',
    search: { record_type: 'telemetry_event', within: '7d', sort: '-cost_usd_estimate' },
    sees: 'telemetry_event',
  },
  {
    label: 'Everything, including purged',
    search: { within: '30d', include_purged: 'true' },
    sees: 'output',
  },
  { label: 'Purges of 30 days', search: { event_kind: 'hub.record_purged', within: '30d' }, sees: 'governance_event' },
  { label: 'Tamper alerts', search: { event_kind: 'hub.tamper_detected' }, sees: 'governance_event' },
]

/** Offers common queries. */
export function PresetsMenu({ onChoose }: { onChoose(search: RecordsSearch): void }) {
  const { scopes, subject, may } = useMe()
  const mine: Preset[] = may('writeRecord') ? [{ label: 'Created by you', search: { created_by: subject } }] : []
  const shown = [...presets.filter(({ sees }) => !sees || canSee(scopes, sees)), ...mine]
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <Button variant="default" leftSection={<IconBolt size={16} aria-hidden />}>
          Quick filters
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {shown.map(({ label, search }) => (
          <Menu.Item key={label} onClick={() => onChoose(search)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
