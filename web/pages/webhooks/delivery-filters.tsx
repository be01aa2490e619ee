import { Button, Group, Select } from '@mantine/core'
import { type DeliveryStatus, deliveryStatuses, wordsOf } from '../../../contract/webhook-deliveries.ts'
import { MomentInput } from '../../ui/moment-input.tsx'
import { statusLabels } from './delivery-words.ts'
import type { EndpointSearch } from './endpoint-search.ts'
import { deliveryKinds } from './event-kinds.ts'

const statuses = wordsOf<DeliveryStatus>(deliveryStatuses).map((value) => ({ value, label: statusLabels[value] }))

interface DeliveryFiltersProps {
  search: EndpointSearch
  onChange(search: EndpointSearch): void
}

/** Narrows the deliveries that are listed; the address of the page follows. */
export function DeliveryFilters({ search, onChange }: DeliveryFiltersProps) {
  const { status, kind, from, until } = search
  const isNarrowed = [status, kind, from, until].some((each) => each !== undefined)
  return (
    <Group gap="sm" align="flex-end">
      <Select
        label="Status"
        placeholder="Any"
        data={statuses}
        clearable
        w={{ base: '100%', xs: 190 }}
        value={status ?? null}
        onChange={(value) => onChange({ ...search, status: (value as DeliveryStatus | null) ?? undefined })}
      />
      <Select
        label="Message"
        placeholder="Any kind"
        data={[...deliveryKinds]}
        searchable
        clearable
        w={{ base: '100%', xs: 260 }}
        nothingFoundMessage="No such kind"
        value={kind ?? null}
        onChange={(value) => onChange({ ...search, kind: value ?? undefined })}
      />
      <MomentInput
        label="Queued from"
        placeholder="Any time"
        w={{ base: '100%', xs: 200 }}
        value={from}
        onChange={(value) => onChange({ ...search, from: value })}
      />
      <MomentInput
        label="Until"
        placeholder="Now"
        w={{ base: '100%', xs: 200 }}
        value={until}
        onChange={(value) => onChange({ ...search, until: value })}
      />
      {isNarrowed && (
        <Button variant="subtle" onClick={() => onChange({ delivery: search.delivery })}>
          Clear filters
        </Button>
      )}
    </Group>
  )
}
