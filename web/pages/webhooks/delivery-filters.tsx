import { Button, Select, SimpleGrid, Stack } from '@mantine/core'
import { type DeliveryStatus, deliveryStatuses, wordsOf } from '../../../contract/webhook-deliveries.ts'
import { DateTimeInput } from '../../ui/date-time-input.tsx'
import { FoldedFilters } from '../../ui/folded-filters.tsx'
import { statusLabels } from './delivery-labels.ts'
import type { EndpointSearch } from './endpoint-search.ts'
import { deliveryKinds } from './event-kinds.ts'

const statuses = wordsOf<DeliveryStatus>(deliveryStatuses).map((value) => ({ value, label: statusLabels[value] }))

interface DeliveryFiltersProps {
  search: EndpointSearch
  onChange(search: EndpointSearch): void
}

/** Filters the listed deliveries and updates the address of the page. */
export function DeliveryFilters({ search, onChange }: DeliveryFiltersProps) {
  const { status, kind, from, until } = search
  const set = [status, kind, from, until].filter((each) => each !== undefined).length
  return (
    <search aria-label="Filters">
      <FoldedFilters set={set}>
        <Stack gap="sm" align="flex-start">
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="sm" w="100%">
            <Select
              label="Status"
              placeholder="Any"
              data={statuses}
              clearable
              value={status ?? null}
              onChange={(value) => onChange({ ...search, status: (value as DeliveryStatus | null) ?? undefined })}
            />
            <Select
              label="Message"
              placeholder="Any kind"
              data={[...deliveryKinds]}
              searchable
              clearable
              nothingFoundMessage="No such kind"
              value={kind ?? null}
              onChange={(value) => onChange({ ...search, kind: value ?? undefined })}
            />
            <DateTimeInput
              label="Queued from"
              placeholder="Any time"
              value={from}
              onChange={(value) => onChange({ ...search, from: value })}
            />
            <DateTimeInput
              label="Until"
              placeholder="Now"
              value={until}
              onChange={(value) => onChange({ ...search, until: value })}
            />
          </SimpleGrid>
          {set > 0 && (
            <Button size="xs" variant="subtle" onClick={() => onChange({ delivery: search.delivery })}>
              Clear filters
            </Button>
          )}
        </Stack>
      </FoldedFilters>
    </search>
  )
}
