import { Checkbox, Radio, Stack, Text } from '@mantine/core'
import * as v from 'valibot'
import { type RecordType, recordTypes } from '../../../contract/literals.ts'
import { visibleTypes } from '../../../contract/record-visibility.ts'
import { hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { type FilterValues, filterOf, filterValues, noFilter } from '../../components/record-filter.ts'
import { RecordFilterFields } from '../../components/record-filter-fields.tsx'
import { useMutationForm } from '../../components/use-mutation-form.ts'
import { type ExportFormat, formats } from './export-job.ts'
import type { ExportsSearch } from './exports-search.ts'

const schema = v.object({
  format: v.picklist(['jsonl', 'csv', 'parquet']),
  verify: v.boolean(),
  include_provenance: v.boolean(),
  filter: filterValues,
})

interface CreateExportProps {
  /** The values from the address of the page. */
  prefilled: ExportsSearch
  onClose(): void
  onCreated(jobId: string): void
}

/** Requests an export of the records that a filter finds. */
export function CreateExport({ prefilled, onClose, onCreated }: CreateExportProps) {
  const { scopes } = useMe()
  const form = useMutationForm({
    initialValues: {
      format: prefilled.format ?? ('jsonl' as ExportFormat),
      verify: true,
      include_provenance: true,
      filter: valuesOf(prefilled, visibleTypes(scopes)),
    },
    schema,
    send: ({ filter, ...choices }) => {
      const { record_id, q } = prefilled
      const stored = { ...filterOf(filter), ...(record_id && { record_id }), ...(q && { q }) }
      // A user who may not read all types must name the requested ones.
      const types = stored.record_type ?? visibleTypes(scopes)
      return hub.POST('/api/v1/hub/records:export', {
        body: { ...choices, filter: { ...stored, ...(types && { record_type: [...types] }) } },
      })
    },
    done: 'The export is requested.',
    refresh: ['/api/v1/hub/exports'],
    onDone: ({ job_id }) => onCreated(job_id),
  })
  return (
    <MutationForm form={form} submit="Create export" failed="The export was not requested" onCancel={onClose}>
      <Radio.Group label="Format" {...form.getInputProps('format')}>
        <Stack gap={8} mt={6}>
          {formats.map(({ value, label, about }) => (
            <Radio key={value} value={value} label={label} description={about} />
          ))}
        </Stack>
      </Radio.Group>
      <Checkbox
        label="Verify each record"
        description="The Hub verifies them as it writes, and each row says what came of it."
        {...form.getInputProps('verify', { type: 'checkbox' })}
      />
      <Checkbox
        label="Include provenance"
        description="Hash and cosignature of each record: without them rows cannot be verified one by one."
        {...form.getInputProps('include_provenance', { type: 'checkbox' })}
      />
      <div>
        <Text fw={600} size="sm" mb={4}>
          Which records
        </Text>
        <Text size="sm" c="dimmed" mb="sm">
          {aboutRecords(prefilled)}
        </Text>
        <RecordFilterFields input={(name) => form.getInputProps(`filter.${name}`)} />
      </div>
    </MutationForm>
  )
}

function aboutRecords({ record_id, q }: ExportsSearch): string {
  if (record_id) return `Only record ${record_id}.`
  if (q) return `Only the records that the search for “${q}” finds. Purged records are left out.`
  return 'Without any condition it has everything that you may read. Purged records are left out.'
}

/** Returns form values from the address, without types that are unknown or invisible to the user. */
function valuesOf(search: ExportsSearch, visible: readonly RecordType[] | undefined): FilterValues {
  const asked = (search.record_type ?? '').split(',')
  return {
    ...noFilter,
    record_type: (visible ?? recordTypes).filter((type) => asked.includes(type)),
    skill_id: search.skill_id ?? '',
    archetype_id: search.archetype_id ?? '',
    user_id: search.user_id ?? '',
    created_by: search.created_by ?? '',
    event_kind: search.event_kind ?? '',
    created_at__gte: search.created_at__gte ?? null,
    created_at__lt: search.created_at__lt ?? null,
  }
}
